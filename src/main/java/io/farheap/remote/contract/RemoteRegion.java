package io.farheap.remote.contract;

import io.farheap.control.RegionGrant;

/** A physical region of a memory server, which was granted under our lease. Any thread. */
public final class RemoteRegion {

    /** In the place of an allocation's number, which counts from 1: it goes with its space. */
    private static final long OF_SPACE = -1;

    private final RemoteServer server;
    private final int serverIndex;
    private final RegionGrant grant;
    // A step nearer than in the grant: every operation reads them.
    private final int regionId;
    private final long address;
    private final int remoteKey;
    /** By which the server granted it. */
    private final long allocationId;

    private volatile long usableBytes;

    /** @param serverIndex the server's place among its client's */
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

    /** A region of a shared space, which is not given back by itself. */
    public static RemoteRegion ofSpace(RemoteServer server, int serverIndex, RegionGrant grant) {
        return new RemoteRegion(server, serverIndex, grant, OF_SPACE);
    }

    /** Whether it is a part of a shared space, with which it goes. */
    public boolean isOfSpace() {
        return allocationId == OF_SPACE;
    }

    public RemoteServer server() {
        return server;
    }

    /** The server's place among its client's servers, by which queues find their connection. */
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

    /** How many bytes may be used: all, or none once it is given back. */
    public long usableBytes() {
        return usableBytes;
    }

    /** What is about to be given back is not used any more, by those who look at {@link #usableBytes}. */
    public void usable(boolean value) {
        usableBytes = value ? grant.length() : 0;
    }

    /** Names it on its server together with {@link #regionId}, which may be granted again. */
    public long allocationId() {
        return allocationId;
    }

    @Override
    public String toString() {
        return "region " + regionId + " of " + server;
    }
}
