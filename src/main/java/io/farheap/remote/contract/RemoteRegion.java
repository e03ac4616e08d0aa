package io.farheap.remote.contract;

import io.farheap.control.RegionGrant;

/** A physical region of a memory server, granted under this client's lease. Any thread may call. */
public final class RemoteRegion {

    /**
     * In place of an allocation's number, which counts from 1: the region belongs to a shared space, and ends with it.
     */
    private static final long OF_SPACE = -1;

    private final RemoteServer server;
    private final int serverIndex;
    private final RegionGrant grant;
    // Copied from the grant, which saves a load for every operation.
    private final int regionId;
    private final long address;
    private final int remoteKey;
    /** The number of the allocation by which the server granted it. */
    private final long allocationId;

    private volatile long usableBytes;

    /** @param serverIndex the server's index among its client's servers */
    public RemoteRegion(RemoteServer server, int serverIndex, RegionGrant grant, long allocationId) {
        this.server = server;
        this.serverIndex = serverIndex;
        this.grant = grant;
        this.regionId = grant.regionId();
        this.address = grant.remoteAddress();
        this.remoteKey = grant.rkey();
        this.usableBytes = grant.length();
        this.allocationId = allocationId;
    }

    /** Makes a region of a shared space, which cannot be given back by itself. */
    public static RemoteRegion ofSpace(RemoteServer server, int serverIndex, RegionGrant grant) {
        return new RemoteRegion(server, serverIndex, grant, OF_SPACE);
    }

    /** Whether it belongs to a shared space, with which it ends. */
    public boolean isOfSpace() {
        return allocationId == OF_SPACE;
    }

    public RemoteServer server() {
        return server;
    }

    /** The server's index among its client's servers, by which queues find their connection. */
    public int serverIndex() {
        return serverIndex;
    }

    /** The physical region's number on its server. */
    public int regionId() {
        return regionId;
    }

    /** The remote address of its first byte. */
    public long address() {
        return address;
    }

    /** rkey. */
    public int remoteKey() {
        return remoteKey;
    }

    /** How many bytes may be used: all of them, or 0 once it is given back. */
    public long usableBytes() {
        return usableBytes;
    }

    /** Makes it usable or unusable, as seen by the threads that load {@link #usableBytes}. */
    public void usable(boolean value) {
        usableBytes = value ? grant.length() : 0;
    }

    /** Identifies the grant on its server together with {@link #regionId}, since a region may be granted again. */
    public long allocationId() {
        return allocationId;
    }

    @Override
    public String toString() {
        return "region " + regionId + " of " + server;
    }
}
