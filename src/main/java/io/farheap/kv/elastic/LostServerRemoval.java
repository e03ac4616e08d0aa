package io.farheap.kv.elastic;

import io.farheap.kv.contract.MapDrain;
import io.farheap.kv.keeper.MapServers;
import io.farheap.kv.space.SpaceMemory;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.IntPredicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Takes servers out of a map that have joined it and are lost: those without which this process has opened the map, as
 * no process had a lease on them for the map's time. A thread of its own drains one after the other, and tries again
 * with a back-off of 5 s to 2 minutes until they have left. If one answers before, the process must open the map again,
 * with it; that may fail, so the thread continues to look. Any thread.
 */
public final class LostServerRemoval implements AutoCloseable {

    private static final System.Logger LOG = System.getLogger(LostServerRemoval.class.getName());
    /** A process that has the map open for less leaves the removal to others. */
    private static final long FIRST_NANOS = TimeUnit.SECONDS.toNanos(1);

    private static final long AGAIN_NANOS = TimeUnit.SECONDS.toNanos(5);
    /** Each attempt attaches the server, which a process has a number for from then on. */
    private static final long MOST_NANOS = TimeUnit.MINUTES.toNanos(2);

    private static final long JOIN_MILLIS = 10;

    private final String map;
    private final Map<Integer, String> leftOut;
    private final IntPredicate hasLeft;
    private final Supplier<LostServerDrain> drains;
    private final Runnable giveUp;
    private final Runnable found;
    private final long firstNanos;
    private final long againNanos;
    private @Nullable Thread thread;
    private volatile boolean closed;
    /** Those that answered at the last look at them. */
    private final Set<Integer> answering = ConcurrentHashMap.newKeySet();
    /** Those of which it was logged that they have been taken out. The removal's thread. */
    private final Set<Integer> said = new HashSet<>();

    /** A way to take one server out. */
    interface LostServerDrain {

        /** Whether the server answers, and has the part of the map of this number. */
        boolean answers(String address, int number);

        /**
         * Takes it out, if no process has a lease on it.
         *
         * @param progress is called now and then, and ends the drain if it throws
         */
        MapDrain drain(String address, Consumer<MapDrain> progress);
    }

    /**
     * @param growth changes of the map's memory, which end when this is closed
     * @param drains makes a drain
     * @param found is run when a server answers again
     */
    public LostServerRemoval(
            MapServers servers, SpaceMemory space, MapGrowth growth, Supplier<ServerDrain> drains, Runnable found) {
        this(
                servers.key().name(),
                servers.leftOut(),
                number -> space.layout().hasLeft(number),
                () -> of(drains.get()),
                growth::close,
                found,
                FIRST_NANOS,
                AGAIN_NANOS);
    }

    private static LostServerDrain of(ServerDrain drain) {
        return new LostServerDrain() {
            @Override
            public boolean answers(String address, int number) {
                return drain.answers(address, number);
            }

            @Override
            public MapDrain drain(String address, Consumer<MapDrain> progress) {
                return drain.drainUnused(address, progress);
            }
        };
    }

    /**
     * @param map its name
     * @param leftOut by number, the addresses of the servers to take out
     * @param hasLeft whether a server has left the map, by its number
     * @param giveUp is run when this is closed, and ends what the thread waits for
     * @param firstNanos the time before the first attempt
     * @param againNanos the time between attempts
     */
    LostServerRemoval(
            String map,
            Map<Integer, String> leftOut,
            IntPredicate hasLeft,
            Supplier<LostServerDrain> drains,
            Runnable giveUp,
            Runnable found,
            long firstNanos,
            long againNanos) {
        this.map = map;
        this.leftOut = leftOut;
        this.hasLeft = hasLeft;
        this.drains = drains;
        this.giveUp = giveUp;
        this.found = found;
        this.firstNanos = firstNanos;
        this.againNanos = againNanos;
    }

    /** Begins, if a server was left out. */
    public synchronized void start() {
        if (!closed && thread == null && !leftOut.isEmpty()) {
            thread = Thread.ofPlatform().daemon().name("farheap-map-removal").start(this::run);
        }
    }

    /** Whether a server answers that was left out, so that the map must be opened again with it. */
    public boolean answers() {
        return !answering.isEmpty();
    }

    private void run() {
        long again = againNanos;
        for (long rest = firstNanos; hasWorkAfter(rest); rest = again, again = longer(again)) {
            leftOut.forEach(this::remove);
        }
        leftOut.forEach((number, address) -> {
            if (hasLeft.test(number)) {
                answering.remove(number);
                if (said.add(number)) {
                    // The attempt that took it out failed later, or was another process's.
                    say(address, "");
                }
            }
        });
    }

    /** The time to rest after the next attempt in vain. */
    static long longer(long nanos) {
        return Math.min(2 * nanos, MOST_NANOS);
    }

    private boolean hasWorkAfter(long nanos) {
        long until = System.nanoTime() + nanos;
        for (long left = nanos; !closed && left > 0; left = until - System.nanoTime()) {
            LockSupport.parkNanos(this, left);
        }
        return !closed && leftOut.keySet().stream().anyMatch(number -> !hasLeft.test(number));
    }

    /** Makes an attempt. One that fails does not keep other servers in the map. */
    private void remove(int number, String address) {
        if (closed || hasLeft.test(number)) {
            return;
        }
        try {
            LostServerDrain drain = drains.get();
            if (drain.answers(address, number)) {
                if (answering.add(number)) {
                    found.run();
                }
                return;
            }
            answering.remove(number);
            MapDrain drained = drain.drain(address, soFar -> {
                if (closed) {
                    throw new IllegalStateException("the map is closed");
                }
            });
            said.add(number);
            say(address, ": " + drained);
        } catch (RuntimeException | Error e) {
            if (!closed) {
                LOG.log(
                        e instanceof Error ? System.Logger.Level.WARNING : System.Logger.Level.DEBUG,
                        "a lost server of a map is not taken out yet; trying again",
                        e);
            }
        }
    }

    private void say(String address, String drained) {
        LOG.log(
                System.Logger.Level.WARNING,
                "server " + address + ", which had joined map " + map
                        + ", was lost, and has been taken out with what it had" + drained);
    }

    /** Gives the removal up. Idempotent. */
    @Override
    public void close() {
        Thread present;
        synchronized (this) {
            closed = true;
            present = thread;
        }
        giveUp.run();
        boolean interrupted = false;
        while (present != null && present != Thread.currentThread() && present.isAlive()) {
            // Again and again, as an evacuation keeps an interrupt for later.
            present.interrupt();
            try {
                present.join(JOIN_MILLIS);
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
