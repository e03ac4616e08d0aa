package io.farheap.verbs;

import java.util.HexFormat;

/**
 * The data that one side of a reliable connection needs about the other side's queue pair; the two sides exchange it
 * over the control plane.
 *
 * @param queuePairNumber 24 bits
 * @param packetSequenceNumber the first one that this side sends, 24 bits
 * @param lid InfiniBand's local identifier, 0 on Ethernet
 * @param gid 16 bytes; required on Ethernet (RoCE), and if the two are in different InfiniBand subnets
 * @param pathMtu {@code enum ibv_mtu} of the port: 1 (256 bytes) to 5 (4096); the smaller of the two is used
 * @param initiatorDepth the most READs and atomics that this side has outstanding, 1 to 255
 * @param responderResources how many READs and atomics of the other side this side's device serves at a time, 1 to 255
 * @param place the process's place, on softverbs
 */
public record Endpoint(
        int queuePairNumber,
        int packetSequenceNumber,
        int lid,
        byte[] gid,
        int pathMtu,
        int initiatorDepth,
        int responderResources,
        SoftverbsPlace place) {

    public static final int GID_BYTES = 16;
    private static final int MAX_DEPTH = 255;

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
    }

    /** An endpoint of a process whose place is unknown or does not matter. */
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
                SoftverbsPlace.UNKNOWN);
    }

    @Override
    public String toString() {
        return "QP " + queuePairNumber + " (LID " + lid + ", GID "
                + HexFormat.of().formatHex(gid) + ")";
    }
}
