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
 * The thread that renews leases, each when it is due. It waits for no renewal: it begins one, and the result comes back
 * through {@code inbox}, from any thread. So a renewal that is slow, refused or unanswered delays no other.
 *
 * <p>It is a platform thread: a virtual thread would have to wait for a carrier, and all carriers may be busy for
 * longer than a lease lasts.
 *
 * <p><b>Between threads.</b> All state of a lease's renewal ({@link RenewalSchedule}, and the collections here) belongs
 * to this thread alone. Other threads add requests to {@code inbox} and then unpark it. Before the thread parks, it has
 * found the inbox empty; an unpark in between makes that park return at once, so no request stays there.
 */
public final class LeaseRenewalThread implements AutoCloseable {

    private static final long STOP_MILLIS = 2_000;
    /** Time until a thread that could not be created is asked for again. */
    private static final long RETRY_NANOS = 100_000_000L;

    /** nanoTime may overflow, so times are compared by their difference. */
    private static final Comparator<RenewedLease> BY_TIME =
            (one, other) -> Long.signum(one.times().dueAt() - other.times().dueAt());

    private final Queue<Runnable> inbox = new ConcurrentLinkedQueue<>();
    private final Thread thread =
            Thread.ofPlatform().daemon().name("farheap-lease-keeper").unstarted(this::run);
    private volatile boolean stopped;

    /**
     * The leases that are kept, and lost ones whose listener has not been notified. Other threads add to it too, so
     * that an error on the way through the inbox loses no lease.
     */
    private final Set<RenewedLease> all = ConcurrentHashMap.newKeySet();
    /** Leases that are kept, in the order in which they are due. */
    private final PriorityQueue<RenewedLease> waiting = new PriorityQueue<>(BY_TIME);
    /** Lost leases whose listener has not been notified yet. */
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

    /** Renews a lease now, if it is kept. Any thread. */
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

    /** A renewal has ended, with success if {@code failed} is null. */
    private void ended(RenewedLease lease, @Nullable ControlException failed) {
        // The lease may have been closed, or lost by an error, during its renewal.
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

    /**
     * Notifies the listeners of lost leases.
     *
     * @return false if one is left because no thread could be created
     */
    private boolean tellLosses() {
        for (RenewedLease lease : Set.copyOf(untold)) {
            if (lease.tellLost()) {
                forget(lease);
            }
        }
        return untold.isEmpty();
    }

    /**
     * Loses all leases after an error in this thread's own work: its state may be wrong, and the holders must be
     * notified. If this throws, it is repeated before anything else.
     */
    private void loseAll(Throwable e) {
        for (RenewedLease lease : all) {
            lease.fail(e);
            untold.add(lease);
        }
        waiting.clear();
    }

    /** Ends the thread; leases that are still kept are not renewed any more. Idempotent. */
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
