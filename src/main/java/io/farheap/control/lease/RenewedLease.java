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
 * A lease that a {@link LeaseRenewalThread} renews, and whoever is told of it.
 *
 * <p>Between threads: {@code times}, and what is done with it, is the keeper's thread's alone. The listener is called
 * on a thread that is there for that call, under {@code telling}: so of one lease never two calls at a time, and who
 * has set {@code closed} and then had the lock knows that no call is under way or will come. The listener itself may
 * close its lease: it has the lock already.
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

    RenewedLease(LeaseRenewer renewals, Lease lease, LeaseListener listener, System.Logger log) {
        this.renewals = renewals;
        this.lease = lease;
        this.listener = listener;
        this.log = log;
        times = new RenewalSchedule(lease.durationNanos(), System.nanoTime());
    }

    /** On the keeper's thread, as all below that say nothing else. */
    RenewalSchedule times() {
        return times;
    }

    /**
     * When it is due. An error loses the lease.
     *
     * @param ended as for {@link LeaseRenewer#begin}, where one is begun
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
            // First: who asks while the listener is told is told again.
            tellRenewal = false;
            if (!tell(() -> listener.renewed(lease))) {
                tellRenewal = true;
            }
        }
    }

    /** @return false where no thread can be had for it: it is to be tried again */
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
            FailSafeLog.log(log, "no thread can be had to tell of a lease; tried again", e);
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
            log.log(System.Logger.Level.ERROR, "whoever was told of a lease, that it is renewed or lost, failed", e);
        } finally {
            telling.unlock();
        }
    }

    /** The listener is not called any more once this returns, unless a call takes longer. Any thread. */
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
