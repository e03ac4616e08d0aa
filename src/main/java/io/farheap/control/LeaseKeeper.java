package io.farheap.control;

import io.farheap.control.ControlException.Code;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Keeps a lease alive: a daemon thread renews it every third of its duration, and a listener is told when it is lost. A
 * renewal that fails is repeated, for as long as the lease lasts; it waits for no longer than that. The thread is the
 * lease's own, or renews all leases that a process has on one server ({@link ControlClient#keep}).
 *
 * <p>The lease is lost when the server says so, or when no renewal has succeeded for the lease's duration, counted from
 * the moment the last good one was sent: then the server has taken everything back, or will have by the time it can be
 * reached again. It is also lost when renewing fails otherwise, since nobody renews it then.
 *
 * <p>Thread-safe. The keeper's thread never calls the listener, which may take as long as it likes: it would cost the
 * other leases of that thread. Each call has a thread of its own; they are rare, and {@code telling} lets one lease
 * have one at a time.
 */
public final class LeaseKeeper implements AutoCloseable {

    /** Told of its lease, on a thread that is there for that call alone; of one lease never two at a time. */
    public interface Listener {

        /**
         * Told once that the lease is lost. The keeper has stopped by then; the listener may close it.
         *
         * @param lease the one that is lost
         * @param cause the server's refusal, or the last failure to reach it
         */
        void leaseLost(Lease lease, ControlException cause);

        /** The lease was renewed just now, the first time since {@link LeaseKeeper#tellNextRenewal}. */
        default void renewed(Lease lease) {}
    }

    private static final System.Logger LOG = System.getLogger(LeaseKeeper.class.getName());
    private static final long STOP_MILLIS = 2_000;

    private final Lease lease;
    private final Listener listener;
    private final Renewals renewals;
    private final KeeperThread thread;
    private final boolean alone;

    /** Of the keeper's thread alone. */
    final LeaseTimes times;

    private final ReentrantLock telling = new ReentrantLock();
    private volatile boolean tellRenewal;
    private volatile boolean closed;

    /**
     * Starts renewing, on a thread of its own.
     *
     * @param lease just opened on {@code plane}
     */
    public LeaseKeeper(ControlPlane plane, Lease lease, Listener listener) {
        this(new KeeperThread(), true, Renewals.blocking(plane), lease, listener);
    }

    /** Starts renewing, on a thread that may have other leases: so {@code renewals} must not wait for anything. */
    LeaseKeeper(KeeperThread thread, Renewals renewals, Lease lease, Listener listener) {
        this(thread, false, renewals, lease, listener);
    }

    private LeaseKeeper(KeeperThread thread, boolean alone, Renewals renewals, Lease lease, Listener listener) {
        this.thread = thread;
        this.alone = alone;
        this.renewals = renewals;
        this.lease = lease;
        this.listener = listener;
        times = new LeaseTimes(lease.durationNanos(), System.nanoTime());
        thread.add(this);
    }

    /** The listener is to be told once the lease is renewed the next time. Any thread; does not wait. */
    public void tellNextRenewal() {
        tellRenewal = true;
    }

    /**
     * Stops renewing, and does not close the lease. When it returns, the listener will not be called any more, unless
     * it is in a call and stays there for {@value #STOP_MILLIS} ms. Idempotent.
     */
    @Override
    public void close() {
        closed = true;
        thread.remove(this);
        if (alone) {
            thread.close();
        }
        try {
            // Whoever tells the listener looks at closed once it has this. The listener itself has it already.
            if (telling.tryLock() || telling.tryLock(STOP_MILLIS, TimeUnit.MILLISECONDS)) {
                telling.unlock();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** On the keeper's thread, when it is due. An error loses it. */
    void renew(long now) {
        long within = times.begin(now);
        if (within > 0) {
            renewals.begin(lease.id(), within, failed -> thread.ended(this, failed));
        }
    }

    /** On the keeper's thread. */
    void fail(Throwable e) {
        if (times.lost() == null) {
            LOG.log(System.Logger.Level.ERROR, "the lease is not kept any more, and so it is lost", e);
            times.lose(new ControlException(Code.INTERNAL, "the lease cannot be renewed: " + e, e));
        }
    }

    /** On the keeper's thread. */
    void tellRenewed() {
        if (!tellRenewal || closed) {
            return;
        }
        // First: who asks while the listener is told is told again.
        tellRenewal = false;
        try {
            start(() -> listener.renewed(lease));
        } catch (Throwable e) {
            tellRenewal = true;
            LOG.log(System.Logger.Level.ERROR, "no thread can be had to tell that a lease is renewed; tried again", e);
        }
    }

    /** On the keeper's thread. Throws where no thread can be had for it. */
    void tellLost(ControlException cause) {
        if (!closed) {
            start(() -> listener.leaseLost(lease, cause));
        }
    }

    private void start(Runnable call) {
        EventLoop.daemon(() -> tell(call), "farheap-lease-listener").start();
    }

    private void tell(Runnable call) {
        telling.lock();
        try {
            if (!closed) {
                call.run();
            }
        } catch (Throwable e) {
            LOG.log(System.Logger.Level.ERROR, "whoever was told of a lease, that it is renewed or lost, failed", e);
        } finally {
            telling.unlock();
        }
    }
}
