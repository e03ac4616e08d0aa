package io.farheap.control;

import java.util.Comparator;
import java.util.HashSet;
import java.util.PriorityQueue;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * The thread that renews leases, each when it is due. It waits for none: a renewal is begun here, and how it ended
 * comes back through {@code inbox}, on whatever thread. So one that is slow, refused or unanswered delays no other.
 *
 * <p>A platform thread: a virtual one would have to wait for a carrier, and all of those may be busy for longer than a
 * lease lasts.
 *
 * <p>Between threads: everything that a lease's renewal goes by ({@link LeaseTimes}, and what is kept here) is this
 * thread's alone. Others put what they want into {@code inbox} and then unpark it. Where the thread is about to park,
 * it has found the inbox empty before; an unpark in between makes that park return at once, so nothing stays there.
 */
final class KeeperThread implements AutoCloseable {

    private static final System.Logger LOG = System.getLogger(LeaseKeeper.class.getName());
    private static final long STOP_MILLIS = 2_000;
    /** Until a thread that could not be had is asked for again. */
    private static final long RETRY_NANOS = 100_000_000L;

    /** nanoTime may overflow, so times are compared by their difference. */
    private static final Comparator<LeaseKeeper> BY_TIME =
            (one, other) -> Long.signum(one.times.dueAt() - other.times.dueAt());

    private final Queue<Runnable> inbox = new ConcurrentLinkedQueue<>();
    private final Thread thread = EventLoop.daemon(this::run, "farheap-lease-keeper");
    private volatile boolean stopped;

    /** Kept, or lost and untold. Others add to it too, so that none is forgotten by an error on its way here. */
    private final Set<LeaseKeeper> all = ConcurrentHashMap.newKeySet();
    /** Those that are kept, by when to look at them. */
    private final PriorityQueue<LeaseKeeper> waiting = new PriorityQueue<>(BY_TIME);
    /** Those whose listener is to be told of the loss. */
    private final Set<LeaseKeeper> untold = new HashSet<>();

    KeeperThread() {
        thread.start();
    }

    /** Begins to renew a lease. Any thread. */
    void add(LeaseKeeper keeper) {
        all.add(keeper);
        send(() -> waiting.add(keeper));
    }

    /** Forgets a lease that is closed. Any thread. */
    void remove(LeaseKeeper keeper) {
        send(() -> forget(keeper));
    }

    /** A renewal has ended: well, where {@code failed} is null. Any thread. */
    void ended(LeaseKeeper keeper, @Nullable ControlException failed) {
        send(() -> answered(keeper, failed));
    }

    private void send(Runnable message) {
        inbox.add(message);
        LockSupport.unpark(thread);
    }

    private void forget(LeaseKeeper keeper) {
        all.remove(keeper);
        waiting.remove(keeper);
        untold.remove(keeper);
    }

    private void answered(LeaseKeeper keeper, @Nullable ControlException failed) {
        // It may have been closed, or lost by an error, while its renewal was under way.
        if (!all.contains(keeper) || keeper.times.lost() != null) {
            return;
        }
        long now = System.nanoTime();
        waiting.remove(keeper);
        if (failed == null) {
            keeper.times.succeeded(now);
        } else {
            keeper.times.failed(failed, now);
        }
        if (keeper.times.lost() != null) {
            untold.add(keeper);
            return;
        }
        waiting.add(keeper);
        if (failed == null) {
            keeper.tellRenewed();
        }
    }

    private void run() {
        while (!stopped) {
            try {
                work();
            } catch (Throwable e) {
                loseAll(e);
            }
        }
    }

    private void work() {
        for (Runnable message = inbox.poll(); message != null; message = inbox.poll()) {
            message.run();
        }
        long now = System.nanoTime();
        LeaseKeeper next = waiting.peek();
        while (next != null && next.times.dueAt() - now <= 0) {
            waiting.remove();
            renew(next, now);
            now = System.nanoTime();
            next = waiting.peek();
        }
        boolean told = tellLosses();
        if (inbox.isEmpty()) {
            pause(next == null ? Long.MAX_VALUE : next.times.dueAt() - now, told);
        }
    }

    private void pause(long untilDue, boolean told) {
        long nanos = told ? untilDue : Math.min(untilDue, RETRY_NANOS);
        if (nanos == Long.MAX_VALUE) {
            LockSupport.park(this);
        } else if (nanos > 0) {
            LockSupport.parkNanos(this, nanos);
        }
    }

    /** An error costs the one lease that it struck. */
    private void renew(LeaseKeeper keeper, long now) {
        try {
            keeper.renew(now);
        } catch (Throwable e) {
            keeper.fail(e);
        }
        if (keeper.times.lost() == null) {
            waiting.add(keeper);
        } else {
            untold.add(keeper);
        }
    }

    /** @return whether none is left, for want of a thread */
    private boolean tellLosses() {
        for (LeaseKeeper keeper : Set.copyOf(untold)) {
            ControlException cause = keeper.times.lost();
            try {
                if (cause != null) {
                    keeper.tellLost(cause);
                }
                forget(keeper);
            } catch (Throwable e) {
                LOG.log(System.Logger.Level.ERROR, "no thread can be had to tell that a lease is lost; tried again", e);
            }
        }
        return untold.isEmpty();
    }

    /** What this thread knows may be wrong after an error in its own work: whoever holds a lease is to know. */
    private void loseAll(Throwable e) {
        try {
            for (LeaseKeeper keeper : all) {
                keeper.fail(e);
                untold.add(keeper);
            }
            waiting.clear();
        } catch (Throwable again) {
            // The next round finds the rest, and so the next error.
            e.addSuppressed(again);
        }
    }

    /** Ends the thread; what is still kept is not renewed any more. Idempotent. */
    @Override
    public void close() {
        stopped = true;
        if (Thread.currentThread() == thread) {
            return;
        }
        thread.interrupt();
        try {
            thread.join(STOP_MILLIS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
