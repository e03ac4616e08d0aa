package io.farheap.kv;

import io.farheap.kv.contract.MapException;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Opens a map again, on a thread of its own, if a lease of its process is lost, or a server answers that was lost: at
 * once, and then with a back-off of 50 ms to 10 s for as long as a server does not answer, unless the map has ended.
 * Until then the map is used as far as the other leases reach. Any thread.
 */
final class MapReopener implements AutoCloseable {

    private static final System.Logger LOG = System.getLogger(MapReopener.class.getName());
    private static final String WHY = "a lease on a map's server is lost, or a server answers that was lost; ";
    private static final long FIRST_NANOS = TimeUnit.MILLISECONDS.toNanos(50);
    private static final long MOST_NANOS = TimeUnit.SECONDS.toNanos(10);

    private final Opening opening;
    private final Supplier<EngineConnection> present;
    private final Predicate<EngineConnection> taker;
    private final Consumer<EngineConnection> ender;
    private @Nullable Thread thread;
    private volatile boolean closed;

    /** Opens a map. */
    interface Opening {
        EngineConnection open(List<String> addresses);
    }

    /**
     * @param present the connection that is used
     * @param taker uses another one instead; false if the map is closed
     * @param ender ends the one that was used before
     */
    MapReopener(
            Opening opening,
            Supplier<EngineConnection> present,
            Predicate<EngineConnection> taker,
            Consumer<EngineConnection> ender) {
        this.opening = opening;
        this.present = present;
        this.taker = taker;
        this.ender = ender;
    }

    /** A lease may be lost. */
    synchronized void look() {
        if (thread == null && !closed && present.get().hasLostLease()) {
            thread = Thread.ofVirtual().name("farheap-map-reopen").start(this::run);
        }
    }

    private void run() {
        long rest = FIRST_NANOS;
        while (hasWork()) {
            try {
                reopen();
                rest = FIRST_NANOS;
            } catch (RuntimeException | Error e) {
                if (e instanceof MapException failed && failed.isForGood()) {
                    // Each attempt would register with servers which then take this for a process that has died.
                    LOG.log(System.Logger.Level.WARNING, WHY + "the map cannot be opened again: " + e.getMessage());
                    giveUp();
                    return;
                }
                LOG.log(
                        rest == FIRST_NANOS ? System.Logger.Level.WARNING : System.Logger.Level.DEBUG,
                        WHY + "the map cannot be opened again yet; trying again: " + e.getMessage());
                LockSupport.parkNanos(this, rest);
                rest = Math.min(2 * rest, MOST_NANOS);
            }
        }
    }

    private synchronized boolean hasWork() {
        if (!closed && present.get().hasLostLease()) {
            return true;
        }
        thread = null;
        return false;
    }

    /** Until another lease is lost. */
    private synchronized void giveUp() {
        thread = null;
    }

    private void reopen() {
        EngineConnection before = present.get();
        EngineConnection made = opening.open(before.addresses());
        boolean taken = false;
        try {
            if (!made.isOfMapOf(before)) {
                throw MapException.forGood("the map that was open has ended, and another one has its name now: close "
                        + "it, and open that one");
            }
            made.succeeds();
            taken = taker.test(made);
        } finally {
            if (!taken) {
                made.close();
            }
        }
        if (taken) {
            try {
                ender.accept(before);
            } finally {
                made.isAlone();
            }
        }
    }

    /** Begins no other attempt. */
    @Override
    public void close() {
        Thread last;
        synchronized (this) {
            closed = true;
            last = thread;
        }
        if (last != null) {
            LockSupport.unpark(last);
        }
    }
}
