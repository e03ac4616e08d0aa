package io.farheap.bench.resilience;

import io.farheap.control.ControlException;
import io.farheap.remote.RemoteMemory;
import io.farheap.remote.contract.RemoteRegion;
import io.farheap.remote.contract.RemoteServer;
import java.util.ArrayList;
import java.util.List;

/**
 * The regions of a side on its servers, and which of them are lost to it. One thread takes them; afterwards any thread.
 */
final class SideRegions implements AutoCloseable {

    private final RemoteMemory memory;
    private final List<RemoteRegion> taken = new ArrayList<>();
    /** By the index of a region's server, as bits: a cluster has far fewer than 64 servers. */
    private volatile long lost;

    SideRegions(RemoteMemory memory) {
        this.memory = memory;
    }

    RemoteRegion take(RemoteServer server) {
        RemoteRegion region = memory.allocate(server, 1).getFirst();
        taken.add(region);
        return region;
    }

    /** Returns a region by the order in which they were taken. */
    RemoteRegion get(int index) {
        return taken.get(index);
    }

    /** Marks a region as lost: its server is never used again, since it may have missed later writes. */
    synchronized void lose(RemoteRegion region) {
        lost |= 1L << region.serverIndex();
    }

    boolean lost(RemoteRegion region) {
        return (lost >>> region.serverIndex() & 1) != 0;
    }

    @Override
    public void close() {
        for (RemoteRegion region : taken) {
            try {
                if (region.server().lost() == null) {
                    memory.release(region);
                }
            } catch (IllegalStateException | ControlException e) {
                // The server was killed: the region ends with the lease.
            }
        }
        taken.clear();
    }
}
