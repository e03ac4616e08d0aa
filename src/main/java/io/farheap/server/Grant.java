package io.farheap.server;

import io.farheap.control.RegionGrant;
import io.farheap.posix.Errno;
import io.farheap.verbs.MemoryRegion;
import io.farheap.verbs.VerbsException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One region in a lease's hands, with what else reaches it. Guarded by its {@link ClientLease} but for {@link #over}.
 */
final class Grant {

    final ClientLease lease;
    final int regionId;
    /** By which it was granted; a region that is granted anew has another one. */
    final long allocationId;

    final MemoryRegion registration;

    /** The latest ticket for it, or null. A new one replaces it. */
    @Nullable
    ExportTicket ticket;
    /** The other server that reads it, or null. A new one replaces it. */
    @Nullable
    SourcePull source;
    /** Other servers that read it, that are closed and that the device is busy with. */
    private final List<SourcePull> leaving = new ArrayList<>();
    /** The pull that is ready to fill it, or null. */
    @Nullable
    PreparedPull prepared;
    /** There was one, and nobody began it in time. */
    boolean pullExpired;
    /** The copy that fills it, or null. */
    @Nullable
    RegionCopy copy;
    /** Set when the region goes back. Read without the lease's lock. */
    private volatile boolean over;

    Grant(ClientLease lease, int regionId, long allocationId, MemoryRegion registration) {
        this.lease = lease;
        this.regionId = regionId;
        this.allocationId = allocationId;
        this.registration = registration;
    }

    RegionGrant described() {
        return new RegionGrant(regionId, registration.address(), registration.remoteKey(), registration.bytes());
    }

    boolean over() {
        return over;
    }

    void leave(SourcePull closed) {
        leaving.add(closed);
    }

    void left(SourcePull gone) {
        leaving.remove(gone);
    }

    /** How many servers are in the middle of reading it, though their pulls are closed. */
    int busy() {
        return leaving.size();
    }

    /** Ends whatever reaches the region except its own registration, at the latest when the fence is closed. */
    void cutOff(Fence fence) {
        over = true;
        if (ticket != null) {
            ticket.revoke();
        }
        leaving.forEach(pull -> fence.add("a pull from region " + regionId, pull));
        if (source != null) {
            fence.add("a pull from region " + regionId, source);
        }
        if (prepared != null) {
            PreparedPull pull = prepared;
            fence.add("a pull into region " + regionId, pull::abandon);
        }
        if (copy != null) {
            RegionCopy running = copy;
            fence.add("a pull into region " + regionId, () -> cancel(running));
        }
    }

    private static void cancel(RegionCopy copy) {
        if (!copy.cancel()) {
            throw new VerbsException("a copy is still under way", Errno.EBUSY);
        }
    }
}
