package io.farheap.cache.managed;

import io.farheap.manager.Reclaim;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The alerts of a cache's manager, and the thread that follows them one after the other, which runs while there are
 * any. The thread also reports the cache's state after a change, again and again until the manager has accepted it;
 * alerts that wait come first. An exception while it follows one is logged, and the thread continues with the next. Any
 * thread may call.
 */
final class ReclaimWorker {

    /** The work, on that thread. */
    interface ReclaimHandler {

        /**
         * Reports the cache's present state to the manager, once.
         *
         * @return false if the manager has not accepted it, so that it has to be reported again
         */
        boolean tell();

        /** Moves the cache off a server. */
        void move(Reclaim alert);
    }

    private static final System.Logger LOG = System.getLogger(ReclaimWorker.class.getName());
    /** Between the first two attempts to report; it doubles with each. */
    private static final long FIRST_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

    private static final long LONGEST_PAUSE_NANOS = TimeUnit.SECONDS.toNanos(5);
    /** For how long the end of the thread is waited for at most. */
    private static final long END_MILLIS = 200;

    private final String name;
    private final ReclaimHandler work;
    /** Guarded by this, as the fields below. */
    private final Deque<Reclaim> alerts = new ArrayDeque<>();

    /** The alert that is being followed; null if none is. */
    private @Nullable Reclaim followed;
    /** By server: the last notice that it leaves, for which the manager has not planned a move yet. */
    private final Map<String, Reclaim> announced = new HashMap<>();

    private @Nullable Thread mover;
    /** Whether there is a cache that can move. */
    private boolean begun;
    /** Whether the cache's state has to be reported to the manager, at {@link #dueNanos}. */
    private boolean changed;

    private long dueNanos;
    private long pauseNanos = FIRST_PAUSE_NANOS;

    private boolean closed;

    /** @param name the cache's */
    ReclaimWorker(String name, ReclaimHandler work) {
        this.name = name;
        this.work = work;
    }

    /** Follows alerts from now on, and those that arrived before. */
    synchronized void begin() {
        begun = true;
        start();
    }

    /** Adds an alert, which replaces an earlier one for the same server. */
    synchronized void add(Reclaim alert) {
        alerts.removeIf(earlier -> earlier.server().equals(alert.server()));
        alerts.add(alert);
        start();
        notifyAll();
    }

    /** A server that the cache uses leaves, and the manager waits for the end of a change before it plans a move. */
    synchronized void announce(Reclaim alert) {
        // Changes that were planned later do not give way to earlier ones.
        announced.values().removeIf(earlier -> earlier.generation() < alert.generation());
        announced.put(alert.server(), alert);
    }

    /** Makes the thread report the cache's state to the manager soon. */
    synchronized void changed() {
        changed = true;
        dueNanos = System.nanoTime();
        pauseNanos = FIRST_PAUSE_NANOS;
        start();
        notifyAll();
    }

    /**
     * Whether a server that the cache uses is about to end, so that a change has to give way.
     *
     * @param generation of the cache when the manager has planned the change: alerts of earlier ones do not count,
     *     since the manager plans no change before they are answered
     * @param except a server that the change itself leaves; empty if it leaves none
     */
    synchronized boolean isToLeave(long generation, String except) {
        return Stream.of(announced.values().stream(), Stream.ofNullable(followed), alerts.stream())
                .flatMap(some -> some)
                .anyMatch(alert -> alert.reason() == Reclaim.Reason.LEAVES
                        && alert.generation() >= generation
                        && !alert.server().equals(except));
    }

    synchronized boolean isClosed() {
        return closed;
    }

    /** With the lock. */
    private void start() {
        if (begun && mover == null && !closed && (changed || !alerts.isEmpty())) {
            Thread thread = new Thread(this::run, "farheap-reclaim-" + name);
            thread.setDaemon(true);
            thread.start();
            mover = thread;
        }
    }

    private void run() {
        try {
            while (awaitWork()) {
                // A server that leaves does not wait for a manager that answers slowly.
                Reclaim alert = next();
                if (alert != null) {
                    guarded(() -> work.move(alert), "it cannot leave memory server " + alert.server());
                    endFollowed();
                } else if (takeChanged()) {
                    guarded(this::tell, "its state cannot be reported to the manager");
                }
            }
        } finally {
            ended();
        }
    }

    private void guarded(Runnable what, String failure) {
        try {
            what.run();
        } catch (Throwable e) {
            LOG.log(System.Logger.Level.ERROR, "cache " + name + ": " + failure, e);
        }
    }

    private void tell() {
        if (!work.tell()) {
            repeat();
        }
    }

    /** A change that was made meanwhile is reported at once. */
    private synchronized void repeat() {
        if (!changed) {
            changed = true;
            dueNanos = System.nanoTime() + pauseNanos;
            pauseNanos = Math.min(2 * pauseNanos, LONGEST_PAUSE_NANOS);
        }
    }

    /**
     * Waits until there is an alert or a report is due. If there is none to wait for, this thread ends, and the next
     * alert starts another.
     *
     * @return whether there is work
     */
    private synchronized boolean awaitWork() {
        while (!closed && alerts.isEmpty() && changed && !isDue()) {
            try {
                TimeUnit.NANOSECONDS.timedWait(this, Math.max(1, dueNanos - System.nanoTime()));
            } catch (InterruptedException e) {
                // By close(), or late by a move that has ended: the loop looks again.
            }
        }
        if (closed || alerts.isEmpty() && !changed) {
            mover = null;
            return false;
        }
        return true;
    }

    private boolean isDue() {
        return changed && System.nanoTime() - dueNanos >= 0;
    }

    /** Called when the thread ends for any reason: the next alert starts another. */
    private synchronized void ended() {
        if (mover == Thread.currentThread()) {
            mover = null;
        }
    }

    private synchronized boolean takeChanged() {
        boolean due = isDue();
        changed &= !due;
        return due;
    }

    private synchronized @Nullable Reclaim next() {
        followed = alerts.poll();
        return followed;
    }

    private synchronized void endFollowed() {
        followed = null;
    }

    /**
     * Follows no alert from now on, and interrupts the move that is under way, which ends by itself. Waits a moment for
     * the thread's end.
     *
     * @return false if it was closed before
     */
    boolean close() {
        Thread moving;
        synchronized (this) {
            if (closed) {
                return false;
            }
            closed = true;
            moving = mover;
        }
        if (moving != null && moving != Thread.currentThread()) {
            moving.interrupt();
            try {
                // What it tells the manager should come before what the caller tells it.
                moving.join(END_MILLIS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
        return true;
    }
}
