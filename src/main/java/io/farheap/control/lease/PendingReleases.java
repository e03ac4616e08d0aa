package io.farheap.control.lease;

import io.farheap.control.ControlException;
import io.farheap.control.plane.ControlPlane;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/**
 * The regions and allocations that a client still has to give back to a server, because the server has not confirmed
 * it. They are offered again after each renewal of the lease, one after the other, until the server confirms or the
 * lease has ended, which gives them back too.
 *
 * <p>Thread-safe. At most one virtual thread at a time offers them.
 */
public final class PendingReleases implements AutoCloseable {

    private static final System.Logger LOG = System.getLogger(PendingReleases.class.getName());
    private static final int ALL_REGIONS = -1;

    private record Debt(long allocationId, int regionId) {}

    private final ControlPlane plane;
    private final long leaseId;
    private final Runnable owing;
    private final ArrayDeque<Debt> owed = new ArrayDeque<>();
    private boolean paying;
    private boolean closed;
    /** The latest call passed its deadline. */
    private volatile boolean silent;

    /**
     * @param owing called when there is something to give back that has not been offered, or has been offered in vain:
     *     {@link #offer} must be called after the next renewal. It must not wait
     */
    public PendingReleases(ControlPlane plane, long leaseId, Runnable owing) {
        this.plane = plane;
        this.leaseId = leaseId;
        this.owing = owing;
    }

    /** Gives a region back: now, or later if that fails or if the server has just not answered another call. */
    public void release(int regionId, long allocationId) {
        Debt debt = new Debt(allocationId, regionId);
        if (silent || !settled(debt)) {
            owe(debt);
        }
    }

    /** Gives back all regions that an allocation was granted, or will be. Does not wait for it. */
    public void abandon(long allocationId) {
        owe(new Debt(allocationId, ALL_REGIONS));
        offer();
    }

    private synchronized void owe(Debt debt) {
        if (!closed) {
            owed.add(debt);
            owing.run();
        }
    }

    /** Called when the server can be reached: offers everything that is owed. Does not wait for it. */
    public synchronized void offer() {
        if (paying || closed || owed.isEmpty()) {
            return;
        }
        paying = true;
        try {
            Thread.ofVirtual().name("farheap-debts").start(this::pay);
        } catch (Throwable e) {
            paying = false;
            throw e;
        }
    }

    private void pay() {
        try {
            Debt debt = next(null);
            while (debt != null && settled(debt)) {
                debt = next(debt);
            }
        } catch (Throwable e) {
            LOG.log(System.Logger.Level.ERROR, "regions could not be given back to a server; tried again later", e);
        } finally {
            stopPaying();
        }
    }

    /** @param paid is removed, if it is not null; the rest keeps its order */
    private synchronized @Nullable Debt next(@Nullable Debt paid) {
        if (paid != null) {
            owed.remove(paid);
        }
        return closed ? null : owed.peek();
    }

    private synchronized void stopPaying() {
        paying = false;
        if (!owed.isEmpty()) {
            owing.run();
        }
    }

    /** Whether it is settled: the server confirms it, or does not know it any more. */
    private boolean settled(Debt debt) {
        try {
            if (debt.regionId == ALL_REGIONS) {
                plane.abandon(leaseId, debt.allocationId);
            } else {
                plane.release(leaseId, debt.regionId, debt.allocationId);
            }
            silent = false;
            return true;
        } catch (ControlException e) {
            silent = e.code() == ControlException.Code.DEADLINE_EXCEEDED;
            return switch (e.code()) {
                case NOT_FOUND, LEASE_EXPIRED, INVALID_ARGUMENT, PROTOCOL_MISMATCH -> true;
                default -> false;
            };
        }
    }

    /** Forgets all that is owed: the lease has ended, or is about to. Idempotent. */
    @Override
    public synchronized void close() {
        closed = true;
        owed.clear();
    }
}
