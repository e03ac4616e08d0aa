package io.farheap.server;

import io.farheap.control.RegionGrant;
import io.farheap.verbs.MemoryRegion;

/** One region in a lease's hands, with what else reaches it. Guarded by its {@link ClientLease} but for {@link #over}. */
final class Grant {

    final ClientLease lease;
    final int regionId;
    final MemoryRegion registration;

    /** The latest ticket for it, or null. A new one replaces it. */
    ExportTicket ticket;
    /** The other server that reads it, or null. A new one replaces it. */
    SourcePull source;
    /** The pull that is ready to fill it, or null. */
    PreparedPull prepared;
    /** The copy that fills it, or null. */
    RegionCopy copy;
    /** Set when the region goes back. Read without the lease's lock. */
    private volatile boolean over;

    Grant(ClientLease lease, int regionId, MemoryRegion registration) {
        this.lease = lease;
        this.regionId = regionId;
        this.registration = registration;
    }

    RegionGrant described() {
        return new RegionGrant(regionId, registration.address(), registration.remoteKey(), registration.bytes());
    }

    boolean over() {
        return over;
    }

    /** Ends whatever reaches the region except its own registration. */
    void cutOff() {
        over = true;
        if (ticket != null) {
            ticket.revoke();
        }
        if (source != null) {
            source.close();
        }
        if (prepared != null) {
            prepared.abandon();
        }
        if (copy != null) {
            copy.cancel();
        }
    }
}
