package io.farheap.server.lease;

import io.farheap.control.RegionGrant;
import io.farheap.posix.Errno;
import io.farheap.server.fence.Fence;
import io.farheap.server.pull.PreparedPull;
import io.farheap.server.pull.RegionExport;
import io.farheap.server.pull.RegionFill;
import io.farheap.verbs.MemoryRegion;
import io.farheap.verbs.VerbsException;
import org.jspecify.annotations.Nullable;

/** A region that a lease holds, with the pulls that reach it. Guarded by its {@link ClientLease}. */
final class LeasedRegion {

    final int regionId;
    /** The allocation by which it was granted; a region that is granted again has another one. */
    final long allocationId;

    final MemoryRegion registration;

    /** The access of other servers to it. */
    final RegionExport export;

    /** How many calls have begun to pull into it. */
    private int turns;
    /** The turn of the pull that is ready or fills the region, or did so last: a call that began before it is late. */
    private int latest;

    /** The pull that is ready to fill it, or null. */
    @Nullable
    PreparedPull prepared;
    /** A pull was prepared and not begun in time. */
    boolean pullExpired;
    /** The pull that fills it, or null. */
    @Nullable
    RegionFill fill;

    LeasedRegion(int regionId, long allocationId, MemoryRegion registration, RegionExport export) {
        this.regionId = regionId;
        this.allocationId = allocationId;
        this.registration = registration;
        this.export = export;
    }

    /** The number of a call among those that pull into the region, assigned when it begins. */
    record PullTurn(LeasedRegion grant, int number) {}

    PullTurn nextTurn() {
        return new PullTurn(this, ++turns);
    }

    /** Whether a call that began later has arrived before this one. */
    boolean isLate(PullTurn turn) {
        return turn.number < latest;
    }

    /** A call's pull is ready, or fills the region. */
    void arrived(PullTurn turn) {
        latest = turn.number;
    }

    RegionGrant described() {
        return new RegionGrant(regionId, registration.address(), registration.remoteKey(), registration.bytes());
    }

    /** Ends everything that reaches the region except its own registration, at the latest when the fence is closed. */
    void cutOff(Fence fence) {
        export.cutOff(fence);
        if (prepared != null) {
            PreparedPull pull = prepared;
            fence.add("a pull into region " + regionId, pull::abandon);
        }
        if (fill != null) {
            RegionFill running = fill;
            fence.add("a pull into region " + regionId, () -> cancel(running));
        }
    }

    private static void cancel(RegionFill fill) {
        if (!fill.cancel()) {
            throw new VerbsException("a copy is still under way", Errno.EBUSY);
        }
    }
}
