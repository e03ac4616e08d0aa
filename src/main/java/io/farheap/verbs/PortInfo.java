package io.farheap.verbs;

/**
 * A port of a device.
 *
 * @param number from 1
 * @param active whether its state is ACTIVE
 * @param mtu {@code enum ibv_mtu} of the active MTU: 1 (256 bytes) to 5 (4096)
 * @param maxMessageBytes the largest message of one work request
 * @param lid InfiniBand's local identifier, 0 on Ethernet
 * @param ethernet whether the link layer is Ethernet (RoCE)
 * @param needsGid whether peers must be addressed by GID too: on Ethernet, and if an InfiniBand port requires it
 * @param gidEntries length of the port's GID table
 */
public record PortInfo(
        int number,
        boolean active,
        int mtu,
        long maxMessageBytes,
        int lid,
        boolean ethernet,
        boolean needsGid,
        int gidEntries) {

    public int mtuBytes() {
        return 128 << mtu;
    }
}
