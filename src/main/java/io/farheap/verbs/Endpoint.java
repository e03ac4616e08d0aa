package io.farheap.verbs;

import java.util.HexFormat;

/**
 * What one side of a reliable connection must know of the other's queue pair; the two exchange it over the control plane.
 *
 * @param queuePairNumber      24 bits
 * @param packetSequenceNumber the first one that this side sends, 24 bits
 * @param lid                  InfiniBand's local identifier, 0 on Ethernet
 * @param gid                  16 bytes; required on Ethernet (RoCE), and where the two are in different InfiniBand subnets
 * @param pathMtu              {@code enum ibv_mtu} of the port: 1 (256 bytes) to 5 (4096); the smaller of the two is used
 */
public record Endpoint(int queuePairNumber, int packetSequenceNumber, int lid, byte[] gid, int pathMtu) {

    public static final int GID_BYTES = 16;

    public Endpoint {
        if (queuePairNumber < 0 || queuePairNumber > 0xFFFFFF) {
            throw new IllegalArgumentException("queue pair number " + queuePairNumber + " is not a 24-bit number");
        }
        if (packetSequenceNumber < 0 || packetSequenceNumber > 0xFFFFFF) {
            throw new IllegalArgumentException("packet sequence number " + packetSequenceNumber + " is not a 24-bit number");
        }
        if (lid < 0 || lid > 0xFFFF) {
            throw new IllegalArgumentException("LID " + lid + " is not a 16-bit number");
        }
        if (gid.length != GID_BYTES) {
            throw new IllegalArgumentException("a GID of " + gid.length + " bytes; it has " + GID_BYTES);
        }
        if (pathMtu < 1 || pathMtu > 5) {
            throw new IllegalArgumentException("path MTU code " + pathMtu + " is not one of 1 (256 bytes) to 5 (4096 bytes)");
        }
    }

    @Override
    public String toString() {
        return "QP %d (LID %d, GID %s)".formatted(queuePairNumber, lid, HexFormat.of().formatHex(gid));
    }
}
