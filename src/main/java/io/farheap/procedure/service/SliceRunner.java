package io.farheap.procedure.service;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.farheap.memory.NativeMemory;
import io.farheap.posix.AsymmetricFence;
import io.farheap.procedure.translate.running.CallContext;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.lang.ref.Reference;
import java.util.Arrays;

/**
 * Runs calls for a while on one thread, each in its lease's map: one after another, or in turns. In turns, each runs to
 * its next access to another cache line; then a word of what each will access is loaded, and these misses overlap.
 *
 * <p><b>Maps.</b> {@code slices} is odd while a context runs. It is stored before the lease's map is loaded; who has
 * replaced a map executes a heavy fence and then waits until each thread's {@code slices} was even or has changed: from
 * there on nobody uses the map before. {@link AsymmetricFence} orders the store and the load.
 */
final class SliceRunner {

    private static final VarHandle SLICES;

    static {
        try {
            SLICES = MethodHandles.lookup().findVarHandle(SliceRunner.class, "slices", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    @SuppressWarnings("unused")
    private int slices;
    /** Those of a group that are to run on. */
    private RunningCall[] turning = new RunningCall[16];
    /** So that a load is not taken for one without an effect. */
    @SuppressWarnings("unused")
    private long touched;

    /** A slice begins: from here on the map that is loaded stays in use until {@link #end}. */
    void begin() {
        SLICES.setRelease(this, slices + 1);
        AsymmetricFence.light();
    }

    void end() {
        SLICES.setRelease(this, slices + 1);
    }

    /**
     * Runs one call, and says in {@link RunningCall#left} how it left.
     *
     * @return units of fuel that it took
     */
    // A call that is under way has a lease, and its regions.
    @SuppressWarnings("NullAway")
    long one(RunningCall call, int fuel) {
        CallContext context = call.context;
        begin();
        LeaseRegionTable map = call.lease.map();
        try {
            map.refresh(call.held);
            long before = context.fuelUsed();
            call.left = CallContext.ENDED;
            if (Long.compareUnsigned(call.end, map.span()) <= 0) {
                context.turns(false);
                context.map(map.table(), map.entries(), map.shift());
                call.left = context.run(fuel);
            }
            return context.fuelUsed() - before;
        } finally {
            Reference.reachabilityFence(map);
            end();
        }
    }

    /**
     * Runs some calls of one lease in turns.
     *
     * @param fuel for each
     * @return units of fuel that all of them took
     */
    // As in one.
    @SuppressWarnings("NullAway")
    long inTurns(RunningCall[] calls, int count, int fuel) {
        if (count > turning.length) {
            turning = new RunningCall[Integer.highestOneBit(count) * 2];
        }
        begin();
        LeaseRegionTable map = calls[0].lease.map();
        try {
            map.refresh(calls[0].held);
            int live = 0;
            for (int i = 0; i < count; i++) {
                RunningCall call = calls[i];
                call.left = CallContext.ENDED;
                if (Long.compareUnsigned(call.end, map.span()) <= 0) {
                    call.context.turns(true);
                    call.context.map(map.table(), map.entries(), map.shift());
                    call.fuelLeft = fuel;
                    turning[live++] = call;
                }
            }
            return turns(live);
        } finally {
            Reference.reachabilityFence(map);
            end();
            Arrays.fill(turning, 0, count, null);
        }
    }

    private long turns(int count) {
        long units = 0;
        int live = count;
        while (live > 0) {
            if (live == 1) {
                // Nobody's misses would overlap with its own.
                turning[0].context.turns(false);
            }
            int still = 0;
            for (int i = 0; i < live; i++) {
                RunningCall call = turning[i];
                long before = call.context.fuelUsed();
                call.left = call.context.run(call.fuelLeft);
                int took = (int) (call.context.fuelUsed() - before);
                call.fuelLeft -= took;
                units += took;
                if (call.left == CallContext.TURN && call.fuelLeft > 0) {
                    turning[still++] = call;
                }
            }
            live = still;
            touched += touch(live);
        }
        return units;
    }

    /** In a loop of its own: a processor looks ahead as far as to all of these loads. */
    private long touch(int live) {
        long sum = 0;
        for (int i = 0; i < live; i++) {
            sum += NativeMemory.ALL.get(JAVA_BYTE, turning[i].context.touchAddress());
        }
        return sum;
    }

    /** After a heavy fence: returns when a slice that may have begun before it has ended. */
    void await() {
        int seen = (int) SLICES.getAcquire(this);
        while ((seen & 1) != 0 && (int) SLICES.getAcquire(this) == seen) {
            Thread.onSpinWait();
        }
    }
}
