package io.farheap.control.lease;

import io.farheap.control.ControlException;
import io.farheap.control.plane.ControlPlane;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/**
 * What a client owes a server: regions and allocations to give back, of which the server has not said that it has them.
 * They are offered again after each renewal of the lease, one after the other, until the server takes them or the lease
 * is gone, which takes them too.
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
    /** The server let the latest call pass its deadline. */
    private volatile boolean silent;

    /**
     * @param owing told when something is owed that has not been offered or has been in vain: {@link #offer} is to be
     *     called after the next renewal. It must not wait for anything
     */
    public PendingReleases(ControlPlane plane, long leaseId, Runnable owing) {
        this.plane = plane;
        this.leaseId = leaseId;
        this.owing = owing;
    }

    /** Gives a region back: now, or later where that fails, or where the server has just not answered another call. */
    public void release(int regionId, long allocationId) {
        Debt debt = new Debt(allocationId, regionId);
        if (silent || !settled(debt)) {
            owe(debt);
        }
    }

    /** Gives back what an allocation was granted, or will be. Does not wait for it. */
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

    /** The server can be reached: offers what is owed. Does not wait for it. */
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
            LOG.log(System.Logger.Level.ERROR, "what a server is owed was not offered, and will be later", e);
        } finally {
            stopPaying();
        }
    }

    /** @param paid goes, if it is not null; what is left stays in its order */
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

    /** Whether the server has it: it says so, or that there is no such thing any more. */
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

    /** Forgets what is owed: the lease is gone, or about to be. Idempotent. */
    @Override
    public synchronized void close() {
        closed = true;
        owed.clear();
    }
}
