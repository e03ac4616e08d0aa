package io.farheap.region;

/**
 * Where a virtual region is: one physical region of one server. Immutable; the region table swaps it for another.
 */
public final class RemoteRegion {

    private final RemoteServer server;
    private final int serverIndex;
    private final int regionId;
    private final long address;
    private final int remoteKey;
    private final boolean writesHeld;

    RemoteRegion(RemoteServer server, int regionId, long address, int remoteKey, boolean writesHeld) {
        this.server = server;
        this.serverIndex = server.index();
        this.regionId = regionId;
        this.address = address;
        this.remoteKey = remoteKey;
        this.writesHeld = writesHeld;
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

    /** Whether new writes must wait, because the region is moving. */
    public boolean writesHeld() {
        return writesHeld;
    }

    RemoteRegion withWritesHeld(boolean held) {
        return new RemoteRegion(server, regionId, address, remoteKey, held);
    }

    @Override
    public String toString() {
        return "region " + regionId + " of " + server;
    }
}
