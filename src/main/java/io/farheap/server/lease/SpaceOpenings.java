package io.farheap.server.lease;

import io.farheap.control.ControlException;
import io.farheap.control.ControlException.Code;
import io.farheap.control.RegionGrant;
import io.farheap.server.budget.Budget;
import io.farheap.server.fence.Fence;
import io.farheap.server.pool.RegionPool;
import io.farheap.verbs.Access;
import io.farheap.verbs.MemoryRegion;
import io.farheap.verbs.ProtectionDomain;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongFunction;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The spaces that one lease has open. Thread-safe. Its lock is taken while a space's or the lease's lock is held, and
 * no lock is taken while it is held: so {@code onGone} is called without it.
 */
public final class SpaceOpenings {

    private final ProtectionDomain domain;
    private final RegionPool pool;
    private final LongFunction<Budget.Loan> lend;
    private final Supplier<ControlException> expired;
    /** Includes openings that are being closed, until they have ended. */
    private final Map<Long, SpaceOpening> bySpace = new HashMap<>();

    private boolean closed;

    /**
     * The openings of one lease.
     *
     * @param domain the lease's
     * @param lend borrows so many registrations
     * @param expired returns the exception for a lease that has ended
     */
    SpaceOpenings(
            ProtectionDomain domain,
            RegionPool pool,
            LongFunction<Budget.Loan> lend,
            Supplier<ControlException> expired) {
        this.domain = domain;
        this.pool = pool;
        this.lend = lend;
        this.expired = expired;
    }

    /**
     * The lease's opening of a space, or a new one.
     *
     * @throws ControlException LEASE_EXPIRED; BUSY while an earlier one is being closed
     */
    public synchronized SpaceOpening open(long spaceId, int[] regions, Supplier<SpaceOpening> made) {
        requireOpen();
        SpaceOpening opening = bySpace.get(spaceId);
        if (opening != null && opening.leaving()) {
            throw new ControlException(
                    Code.BUSY, "the lease's earlier opening of that space is still being closed; open it again later");
        }
        if (opening == null) {
            opening = made.get();
        }
        register(opening, regions);
        bySpace.put(spaceId, opening);
        return opening;
    }

    /**
     * Registers the regions by which a space has grown.
     *
     * @param regions all of the space
     * @throws ControlException LEASE_EXPIRED; NOT_FOUND if the lease does not have it open
     */
    public synchronized SpaceOpening grow(long spaceId, int[] regions) {
        requireOpen();
        SpaceOpening opening = bySpace.get(spaceId);
        if (opening == null || opening.leaving()) {
            throw new ControlException(Code.NOT_FOUND, "the lease does not have that space open; open it first");
        }
        register(opening, regions);
        return opening;
    }

    /**
     * Closes an opening for new registrations.
     *
     * @return null if there is none of that id, or it is being closed already; else the caller ends it
     */
    public synchronized @Nullable SpaceOpening leave(long openingId) {
        for (SpaceOpening opening : bySpace.values()) {
            if (opening.id() == openingId && !opening.leaving()) {
                opening.leave();
                return opening;
            }
        }
        return null;
    }

    private void requireOpen() {
        if (closed) {
            throw expired.get();
        }
    }

    /** Registers all regions that the opening does not have yet, or none. */
    private void register(SpaceOpening opening, int[] regions) {
        int from = opening.grants().size();
        if (from >= regions.length) {
            return;
        }
        long most = domain.context().limits().maxMemoryRegionBytes() / pool.regionBytes();
        List<int[]> runs = runs(regions, from, Math.max(1, most));
        int rights = opening.readOnly()
                ? Access.REMOTE_READ
                : Access.LOCAL_WRITE | domain.context().limits().remoteAccess();
        Budget.Loan loan = lend.apply(runs.size());
        List<MemoryRegion> registered = new ArrayList<>(runs.size());
        List<RegionGrant> grants = new ArrayList<>(regions.length - from);
        try {
            for (int[] run : runs) {
                MemoryRegion registration = domain.register(pool.segments(run[0], run[1]), rights);
                registered.add(registration);
                for (int i = 0; i < run[1]; i++) {
                    grants.add(new RegionGrant(
                            run[0] + i,
                            registration.address() + i * pool.regionBytes(),
                            registration.remoteKey(),
                            pool.regionBytes()));
                }
            }
            opening.add(registered, loan, grants);
        } catch (Throwable e) {
            // No client has received their keys, so the device is not busy with them.
            registered.forEach(MemoryRegion::close);
            loan.close();
            throw e;
        }
    }

    /**
     * Regions that are adjacent in memory share one registration: a device has a limited number.
     *
     * @return first region and number of each
     */
    private static List<int[]> runs(int[] regions, int from, long most) {
        List<int[]> runs = new ArrayList<>();
        for (int i = from; i < regions.length; i++) {
            int[] last = runs.isEmpty() ? null : runs.getLast();
            if (last != null && regions[i] == last[0] + last[1] && last[1] < most) {
                last[1]++;
            } else {
                runs.add(new int[] {regions[i], 1});
            }
        }
        return runs;
    }

    /**
     * Called when the lease ends: no space is opened any more, and the open ones are added to the fence's current
     * stage.
     */
    public synchronized void cutOff(Fence fence) {
        closed = true;
        for (SpaceOpening opening : bySpace.values()) {
            opening.leave();
            fence.add("the registrations of a space", opening);
        }
    }

    /**
     * Called after {@link #cutOff} and its fence: notifies the spaces.
     *
     * @param fenced false if a resource could not be closed
     */
    public void ended(boolean fenced) {
        List<SpaceOpening> all;
        synchronized (this) {
            all = List.copyOf(bySpace.values());
        }
        for (SpaceOpening opening : all) {
            opening.gone(fenced);
        }
    }

    public synchronized void forget(SpaceOpening opening) {
        bySpace.remove(opening.spaceId(), opening);
    }
}
