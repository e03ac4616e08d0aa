package io.farheap.cache;

import io.farheap.manager.Reclaim;
import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;

/**
 * What a cache's manager wants of the cache, and the thread that does it, one thing after the other, which is there
 * while there is something to do. What is thrown on the way is logged, and keeps nothing later from being done. Any
 * thread.
 */
final class Reclaims {

    /** What is done, on that thread. */
    interface Work {

        /** The manager is to hear what the cache is now. */
        void tell();

        /** The cache is to leave a server. */
        void move(Reclaim alert);
    }

    private static final System.Logger LOG = System.getLogger(Reclaims.class.getName());

    private final String name;
    private final Work work;
    /** Guarded by this, as what follows. */
    private final Deque<Reclaim> alerts = new ArrayDeque<>();

    private @Nullable Thread mover;
    /** There is a cache that can move. */
    private boolean begun;
    /** The manager is to hear where the cache is. */
    private boolean changed;

    private boolean closed;

    /** @param name the cache's */
    Reclaims(String name, Work work) {
        this.name = name;
        this.work = work;
    }

    /** From now on what is wanted is done, and what was wanted meanwhile. */
    synchronized void begin() {
        begun = true;
        start();
    }

    /** An alert takes the place of an earlier one for the same server. */
    synchronized void add(Reclaim alert) {
        alerts.removeIf(earlier -> earlier.server().equals(alert.server()));
        alerts.add(alert);
        start();
    }

    /** Has the manager hear soon what the cache is. */
    synchronized void changed() {
        changed = true;
        start();
    }

    /** Whether a server is about to end that the cache is on. */
    synchronized boolean isToLeave() {
        return alerts.stream().anyMatch(alert -> alert.reason() == Reclaim.Reason.LEAVES);
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
            while (hasNext()) {
                if (takeChanged()) {
                    guarded(work::tell, "its manager does not hear what it is");
                }
                Reclaim alert = next();
                if (alert != null) {
                    guarded(() -> work.move(alert), "it does not get off memory server " + alert.server());
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

    /** Where there is nothing more, whoever brings something starts another thread. */
    private synchronized boolean hasNext() {
        if (closed || alerts.isEmpty() && !changed) {
            mover = null;
            return false;
        }
        return true;
    }

    /** However it has ended, it is not the one that others rely on. */
    private synchronized void ended() {
        if (mover == Thread.currentThread()) {
            mover = null;
        }
    }

    private synchronized boolean takeChanged() {
        boolean was = changed;
        changed = false;
        return was;
    }

    private synchronized @Nullable Reclaim next() {
        return alerts.poll();
    }

    /**
     * Nothing more is begun; what is under way is interrupted, and ends by itself.
     *
     * @return false where it was closed before
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
        }
        return true;
    }
}
