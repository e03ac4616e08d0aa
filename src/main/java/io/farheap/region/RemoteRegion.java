package io.farheap.region;

/**
 * Where a virtual region is: one physical region of one server, or a {@linkplain #divided divided} one. The region table swaps it for
 * another.
 */
public final class RemoteRegion {

    private final RemoteServer server;
    private final int serverIndex;
    private final int regionId;
    private final long address;
    private final int remoteKey;
    private final DividedRegion division;

    /** @param serverIndex the server's place among the cache's */
    RemoteRegion(RemoteServer server, int serverIndex, int regionId, long address, int remoteKey) {
        this(server, serverIndex, regionId, address, remoteKey, null);
    }

    private RemoteRegion(RemoteServer server, int serverIndex, int regionId, long address, int remoteKey, DividedRegion division) {
        this.server = server;
        this.serverIndex = serverIndex;
        this.regionId = regionId;
        this.address = address;
        this.remoteKey = remoteKey;
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
        return new RemoteRegion(server, serverIndex, regionId, address, remoteKey, division);
    }

    @Override
    public String toString() {
        return "region " + regionId + " of " + server;
    }
}
