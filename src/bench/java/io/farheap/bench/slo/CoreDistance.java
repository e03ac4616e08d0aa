package io.farheap.bench.slo;

import io.farheap.thread.Cores;
import io.farheap.thread.ThreadAffinity;
import io.farheap.thread.ThreadJoiner;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.List;

/**
 * Measures how long a cache line takes from one core to another and back. A host moves the cores of a virtual machine
 * among its processors, and this time may then change several-fold from one second to another: without it, figures of
 * cooperating threads mean little. One thread at a time.
 */
public final class CoreDistance {

    private static final VarHandle CELL = MethodHandles.arrayElementVarHandle(long[].class);
    /** Two lines apart, since processors fetch lines in pairs. */
    private static final int PING = 16;

    private static final int PONG = 48;
    private static final int CELLS = 64;
    private static final int BATCH = 200;
    private static final long NANOS = 10_000_000;
    private static final long END = -1;

    private final long[] cells = new long[CELLS];
    private double nanos;

    private CoreDistance() {}

    /**
     * Returns the time between the first and the last core of this process, in ns there and back; it measures for 10
     * ms. NaN if there is only one core.
     */
    public static double nanos() {
        List<Integer> cores = Cores.near("");
        if (cores.size() < 2) {
            return Double.NaN;
        }
        CoreDistance distance = new CoreDistance();
        Thread answering =
                Thread.ofPlatform().daemon().name("distance-pong").start(() -> distance.answer(cores.getLast()));
        Thread asking = Thread.ofPlatform().daemon().name("distance-ping").start(() -> distance.ask(cores.getFirst()));
        ThreadJoiner.join(asking);
        ThreadJoiner.join(answering);
        return distance.nanos;
    }

    private void answer(int core) {
        ThreadAffinity.pin(core);
        for (long expected = 1; ; expected++) {
            long value;
            do {
                value = (long) CELL.getAcquire(cells, PING);
            } while (value != expected && value != END);
            if (value == END) {
                return;
            }
            CELL.setRelease(cells, PONG, expected);
        }
    }

    private void ask(int core) {
        ThreadAffinity.pin(core);
        long start = System.nanoTime();
        long trips = 0;
        // The best of several short stretches: in the others one of the two threads may not have been running.
        nanos = Double.MAX_VALUE;
        for (long now = start; now - start < NANOS; ) {
            for (int i = 0; i < BATCH; i++) {
                trips++;
                CELL.setRelease(cells, PING, trips);
                while ((long) CELL.getAcquire(cells, PONG) != trips) {
                    // The line is on its way.
                }
            }
            long end = System.nanoTime();
            nanos = Math.min(nanos, (double) (end - now) / BATCH);
            now = end;
        }
        CELL.setRelease(cells, PING, END);
    }
}
