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

/** One region in a lease's hands, with what else reaches it. Guarded by its {@link ClientLease}. */
final class LeasedRegion {

    final int regionId;
    /** By which it was granted; a region that is granted anew has another one. */
    final long allocationId;

    final MemoryRegion registration;

    /** What other servers have of it. */
    final RegionExport export;

    /** How many calls have begun to pull into it. */
    private int turns;
    /** Of the pull that is ready or fills it, or did last: what began before comes too late. */
    private int latest;

    /** The pull that is ready to fill it, or null. */
    @Nullable
    PreparedPull prepared;
    /** There was one, and nobody began it in time. */
    boolean pullExpired;
    /** What fills it, or null. */
    @Nullable
    RegionFill fill;

    LeasedRegion(int regionId, long allocationId, MemoryRegion registration, RegionExport export) {
        this.regionId = regionId;
        this.allocationId = allocationId;
        this.registration = registration;
        this.export = export;
    }

    /** A call's place among those that pull into the region, taken when it begins. */
    record PullTurn(LeasedRegion grant, int number) {}

    PullTurn nextTurn() {
        return new PullTurn(this, ++turns);
    }

    /** Whether a call that began after that one was faster. */
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

    /** Ends whatever reaches the region except its own registration, at the latest when the fence is closed. */
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
