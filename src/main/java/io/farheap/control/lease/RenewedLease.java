package io.farheap.control.lease;

import io.farheap.control.ControlException;
import io.farheap.control.ControlException.Code;
import io.farheap.control.plane.Lease;
import io.farheap.control.plane.LeaseListener;
import io.farheap.thread.FailSafeLog;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A lease that a {@link LeaseRenewalThread} renews, with its listener.
 *
 * <p><b>Between threads.</b> Only the keeper's thread uses {@code times}, but for its {@link #heldUntil}. The listener
 * is called on a thread that exists for that call, with the lock {@code telling}: so there are never two calls at a
 * time for one lease, and a thread that has set {@code closed} and then held the lock knows that no call is in progress
 * or will follow. The listener itself may close its lease: it has the lock already.
 */
final class RenewedLease {

    private final LeaseRenewer renewals;
    private final Lease lease;
    private final LeaseListener listener;
    private final System.Logger log;
    private final RenewalSchedule times;
    private final ReentrantLock telling = new ReentrantLock();
    private volatile boolean tellRenewal;
    private volatile boolean closed;

    RenewedLease(LeaseRenewer renewals, Lease lease, long askedAt, LeaseListener listener, System.Logger log) {
        this.renewals = renewals;
        this.lease = lease;
        this.listener = listener;
        this.log = log;
        times = new RenewalSchedule(lease.durationNanos(), askedAt);
    }

    /** On the keeper's thread, as all methods below unless they state otherwise. */
    RenewalSchedule times() {
        return times;
    }

    /** As {@link RenewalSchedule#heldUntil}. Any thread. */
    long heldUntil() {
        return times.heldUntil();
    }

    /**
     * Renews the lease when it is due. An error loses the lease.
     *
     * @param ended as for {@link LeaseRenewer#begin}, if a renewal is begun
     */
    void renew(long now, Consumer<@Nullable ControlException> ended) {
        try {
            long within = times.begin(now);
            if (within > 0) {
                renewals.begin(lease.id(), within, ended);
            }
        } catch (Throwable e) {
            fail(e);
        }
    }

    void fail(Throwable e) {
        if (times.lost() == null) {
            times.lose(new ControlException(Code.INTERNAL, "the lease cannot be renewed: " + e, e));
            FailSafeLog.log(log, "the lease is not kept any more, and so it is lost", e);
        }
    }

    /** Any thread. */
    void tellNextRenewal() {
        tellRenewal = true;
    }

    void tellRenewed() {
        if (tellRenewal) {
            // Cleared first: a request during the listener's call leads to another call.
            tellRenewal = false;
            if (!tell(() -> listener.renewed(lease))) {
                tellRenewal = true;
            }
        }
    }

    /** @return false if no thread could be created for it: the caller tries again */
    boolean tellLost() {
        ControlException cause = times.lost();
        return cause == null || tell(() -> listener.leaseLost(lease, cause));
    }

    private boolean tell(Runnable call) {
        try {
            if (!closed) {
                Thread.ofPlatform()
                        .daemon()
                        .name("farheap-lease-listener")
                        .unstarted(() -> run(call))
                        .start();
            }
            return true;
        } catch (Throwable e) {
            FailSafeLog.log(log, "cannot start a thread to call the listener of a lease; tried again", e);
            return false;
        }
    }

    private void run(Runnable call) {
        telling.lock();
        try {
            if (!closed) {
                call.run();
            }
        } catch (Throwable e) {
            log.log(System.Logger.Level.ERROR, "the listener of a lease failed when the lease was renewed or lost", e);
        } finally {
            telling.unlock();
        }
    }

    /**
     * When this returns, the listener is not called any more, unless a call takes longer than this time. Any thread.
     */
    void close(long withinMillis) {
        closed = true;
        try {
            if (telling.tryLock() || telling.tryLock(withinMillis, TimeUnit.MILLISECONDS)) {
                telling.unlock();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
