package io.farheap.control.lease;

import io.farheap.control.ControlException;
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
 * <p>Between threads: everything that a lease's renewal goes by ({@link RenewalSchedule}, and what is kept here) is
 * this thread's alone. Others put what they want into {@code inbox} and then unpark it. Where the thread is about to
 * park, it has found the inbox empty before; an unpark in between makes that park return at once, so nothing stays
 * there.
 */
public final class LeaseRenewalThread implements AutoCloseable {

    private static final long STOP_MILLIS = 2_000;
    /** Until a thread that could not be had is asked for again. */
    private static final long RETRY_NANOS = 100_000_000L;

    /** nanoTime may overflow, so times are compared by their difference. */
    private static final Comparator<RenewedLease> BY_TIME =
            (one, other) -> Long.signum(one.times().dueAt() - other.times().dueAt());

    private final Queue<Runnable> inbox = new ConcurrentLinkedQueue<>();
    private final Thread thread =
            Thread.ofPlatform().daemon().name("farheap-lease-keeper").unstarted(this::run);
    private volatile boolean stopped;

    /** Kept, or lost and untold. Others add to it too, so that none is forgotten by an error on its way here. */
    private final Set<RenewedLease> all = ConcurrentHashMap.newKeySet();
    /** Those that are kept, by when to look at them. */
    private final PriorityQueue<RenewedLease> waiting = new PriorityQueue<>(BY_TIME);
    /** Those whose listener is to be told of the loss. */
    private final Set<RenewedLease> untold = new HashSet<>();

    public LeaseRenewalThread() {
        thread.start();
    }

    /** Begins to renew a lease. Any thread. */
    void add(RenewedLease lease) {
        all.add(lease);
        send(() -> waiting.add(lease));
    }

    /** Forgets a lease that is closed. Any thread. */
    void remove(RenewedLease lease) {
        send(() -> forget(lease));
    }

    /** Renews a lease now, where it is kept. Any thread. */
    void hasten(RenewedLease lease) {
        send(() -> {
            if (waiting.remove(lease)) {
                lease.times().hasten(System.nanoTime());
                waiting.add(lease);
            }
        });
    }

    private void send(Runnable message) {
        inbox.add(message);
        LockSupport.unpark(thread);
    }

    private void forget(RenewedLease lease) {
        all.remove(lease);
        waiting.remove(lease);
        untold.remove(lease);
    }

    /** A renewal has ended: well, where {@code failed} is null. */
    private void ended(RenewedLease lease, @Nullable ControlException failed) {
        // It may have been closed, or lost by an error, while its renewal was under way.
        if (!all.contains(lease) || lease.times().lost() != null) {
            return;
        }
        long now = System.nanoTime();
        waiting.remove(lease);
        if (failed == null) {
            lease.times().succeeded(now);
        } else {
            lease.times().failed(failed, now);
        }
        if (lease.times().lost() != null) {
            untold.add(lease);
            return;
        }
        waiting.add(lease);
        if (failed == null) {
            lease.tellRenewed();
        }
    }

    private void run() {
        Throwable error = null;
        while (!stopped) {
            try {
                if (error != null) {
                    loseAll(error);
                    error = null;
                }
                work();
            } catch (Throwable e) {
                error = e;
            }
        }
    }

    private void work() {
        for (Runnable message = inbox.poll(); message != null; message = inbox.poll()) {
            message.run();
        }
        long now = System.nanoTime();
        RenewedLease next = waiting.peek();
        while (next != null && next.times().dueAt() - now <= 0) {
            waiting.remove();
            renew(next, now);
            now = System.nanoTime();
            next = waiting.peek();
        }
        boolean told = tellLosses();
        if (inbox.isEmpty()) {
            pause(next == null ? Long.MAX_VALUE : next.times().dueAt() - now, told);
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

    private void renew(RenewedLease lease, long now) {
        lease.renew(now, failed -> send(() -> ended(lease, failed)));
        if (lease.times().lost() == null) {
            waiting.add(lease);
        } else {
            untold.add(lease);
        }
    }

    /** @return whether none is left, for want of a thread */
    private boolean tellLosses() {
        for (RenewedLease lease : Set.copyOf(untold)) {
            if (lease.tellLost()) {
                forget(lease);
            }
        }
        return untold.isEmpty();
    }

    /**
     * What this thread knows may be wrong after an error in its own work: whoever holds a lease is to know. Where this
     * throws, it is done again before anything else.
     */
    private void loseAll(Throwable e) {
        for (RenewedLease lease : all) {
            lease.fail(e);
            untold.add(lease);
        }
        waiting.clear();
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
