package io.farheap.verbs;

/**
 * The data that one side of a reliable connection needs about the other side's queue pair; the two sides exchange it
 * over the control plane.
 *
 * @param queuePairNumber 24 bits
 * @param packetSequenceNumber the first one that this side sends, 24 bits
 * @param lid InfiniBand's local identifier, 0 on Ethernet
 * @param gid 16 bytes, required on Ethernet (RoCE), and if the two are in different InfiniBand subnets: the GID of this
 *     side that the connection uses; before this side knows the other, the first of its GIDs
 * @param pathMtu {@code enum ibv_mtu} of the port: 1 (256 bytes) to 5 (4096); the smaller of the two is used
 * @param initiatorDepth the most READs and atomics that this side has outstanding, 1 to 255
 * @param responderResources how many READs and atomics of the other side this side's device serves at a time, 1 to 255
 * @param softverbsUser on softverbs, the process's effective user
 * @param softverbsHost on softverbs, a number of the process's host, boot and namespaces; 0 if it is not known
 * @param gids the GIDs by which this side may be addressed, the best first, at most 32: 18 bytes each, which are the
 *     type, the length of the network's prefix, and the GID; empty from a process that is older than this list
 * @param peerGid if this side knows the other, the one of the other's {@code gids} to which it sends; else empty
 */
public record Endpoint(
        int queuePairNumber,
        int packetSequenceNumber,
        int lid,
        byte[] gid,
        int pathMtu,
        int initiatorDepth,
        int responderResources,
        int softverbsUser,
        long softverbsHost,
        byte[] gids,
        byte[] peerGid) {

    public static final int GID_BYTES = 16;
    private static final int MAX_DEPTH = 255;
    private static final byte[] NONE = {};

    public Endpoint {
        if (queuePairNumber < 0 || queuePairNumber > 0xFFFFFF) {
            throw new IllegalArgumentException("queue pair number " + queuePairNumber + " is not a 24-bit number");
        }
        if (packetSequenceNumber < 0 || packetSequenceNumber > 0xFFFFFF) {
            throw new IllegalArgumentException(
                    "packet sequence number " + packetSequenceNumber + " is not a 24-bit number");
        }
        if (lid < 0 || lid > 0xFFFF) {
            throw new IllegalArgumentException("LID " + lid + " is not a 16-bit number");
        }
        if (gid.length != GID_BYTES) {
            throw new IllegalArgumentException("a GID of " + gid.length + " bytes; it has " + GID_BYTES);
        }
        if (pathMtu < 1 || pathMtu > 5) {
            throw new IllegalArgumentException(
                    "path MTU code " + pathMtu + " is not one of 1 (256 bytes) to 5 (4096 bytes)");
        }
        if (initiatorDepth < 1 || initiatorDepth > MAX_DEPTH) {
            throw new IllegalArgumentException("an initiator depth of " + initiatorDepth + "; it is 1 to " + MAX_DEPTH);
        }
        if (responderResources < 1 || responderResources > MAX_DEPTH) {
            throw new IllegalArgumentException(
                    "responder resources for " + responderResources + " READs; they are for 1 to " + MAX_DEPTH);
        }
        if (gids.length % GidEntry.ENCODED_BYTES != 0 || gids.length > GidEntry.MOST_OFFERED * GidEntry.ENCODED_BYTES) {
            throw new IllegalArgumentException("a list of GIDs of " + gids.length + " bytes; it has up to "
                    + GidEntry.MOST_OFFERED + " entries of " + GidEntry.ENCODED_BYTES + " bytes");
        }
        if (peerGid.length != 0 && peerGid.length != GidEntry.ENCODED_BYTES) {
            throw new IllegalArgumentException("the peer's GID has " + peerGid.length + " bytes; an entry has "
                    + GidEntry.ENCODED_BYTES + ", or none if there is no choice");
        }
    }

    /** An endpoint of a process that sends no list of GIDs, and whose place is unknown or does not matter. */
    public Endpoint(
            int queuePairNumber,
            int packetSequenceNumber,
            int lid,
            byte[] gid,
            int pathMtu,
            int initiatorDepth,
            int responderResources) {
        this(
                queuePairNumber,
                packetSequenceNumber,
                lid,
                gid,
                pathMtu,
                initiatorDepth,
                responderResources,
                SoftverbsPlace.UNKNOWN.user(),
                SoftverbsPlace.UNKNOWN.host(),
                NONE,
                NONE);
    }

    /** The process's place, on softverbs. */
    SoftverbsPlace place() {
        return new SoftverbsPlace(softverbsUser, softverbsHost);
    }

    @Override
    public String toString() {
        return "QP " + queuePairNumber + " (LID " + lid + ", GID " + GidEntry.address(gid) + ")";
    }
}
