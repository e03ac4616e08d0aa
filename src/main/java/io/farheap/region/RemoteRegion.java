package io.farheap.region;

import io.farheap.control.RegionGrant;

/**
 * Where a virtual region is: one physical region of one server, or a {@linkplain #divided divided} one. The region table swaps it for
 * another.
 */
public final class RemoteRegion {

    private final RemoteServer server;
    private final int serverIndex;
    private final RegionGrant grant;
    // A step nearer than in the grant: every operation reads them.
    private final int regionId;
    private final long address;
    private final int remoteKey;
    /** By which the server granted it. */
    private final long allocationId;
    private final DividedRegion division;
    private volatile long usableBytes;

    /** @param serverIndex the server's place among the cache's */
    RemoteRegion(RemoteServer server, int serverIndex, RegionGrant grant, long allocationId) {
        this(server, serverIndex, grant, allocationId, null);
    }

    private RemoteRegion(RemoteServer server, int serverIndex, RegionGrant grant, long allocationId, DividedRegion division) {
        this.server = server;
        this.serverIndex = serverIndex;
        this.grant = grant;
        this.regionId = grant.regionId();
        this.address = grant.remoteAddress();
        this.remoteKey = grant.rkey();
        this.usableBytes = grant.length();
        this.allocationId = allocationId;
        this.division = division;
    }

    public RemoteServer server() {
        return server;
    }

    /** The server's place among the cache's servers, by which sessions find their connection. */
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
    long allocationId() {
        return allocationId;
    }

    /** Whether it is in more than one place: then {@link #division} says where a request goes, and the rest describes its first copy. */
    public boolean divided() {
        return division != null;
    }

    /** Null where it is not divided. */
    public DividedRegion division() {
        return division;
    }

    /** Whether some of it is on a server. */
    public boolean uses(RemoteServer candidate) {
        return division == null ? server == candidate : division.copyOn(candidate) != null;
    }

    RemoteRegion divided(DividedRegion division) {
        return new RemoteRegion(server, serverIndex, grant, allocationId, division);
    }

    @Override
    public String toString() {
        return "region " + regionId + " of " + server;
    }
}
