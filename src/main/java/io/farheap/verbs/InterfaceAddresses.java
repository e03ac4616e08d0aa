package io.farheap.verbs;

import java.io.IOException;
import java.net.InterfaceAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.Map;
import java.util.function.Function;

/**
 * The addresses of the network interfaces in this process's network namespace, at one moment. A port's GID table has
 * the entries of all namespaces, by the names that interfaces have there.
 */
final class InterfaceAddresses {

    private static final byte[] NONE = {};
    private static final int GID_BITS = 128;
    private static final byte[] LINK_LOCAL = {(byte) 0xfe, (byte) 0x80, 0, 0, 0, 0, 0, 0};
    private static final int HARDWARE_BYTES = 6;
    /** The bit of an address's first byte that is inverted when a GID is made of it. */
    private static final int UNIVERSAL = 2;

    private final Map<String, Map<ByteBuffer, Integer>> networkBits;
    private final boolean ipv6;
    private final Function<String, byte[]> hardware;

    /**
     * @param networkBits of each interface the addresses, as GIDs have them, with the length of the network's prefix in
     *     bits, of 128 for IPv4 too, 0 if it is not known; empty if the interfaces are not known
     * @param ipv6 whether it has IPv6 addresses, too
     * @param hardware returns an interface's hardware address; empty if it is not known here
     */
    InterfaceAddresses(
            Map<String, Map<ByteBuffer, Integer>> networkBits, boolean ipv6, Function<String, byte[]> hardware) {
        this.networkBits = Map.copyOf(networkBits);
        this.ipv6 = ipv6;
        this.hardware = hardware;
    }

    /** The addresses now. The cost grows with the number of interfaces, so read them once for a table. */
    static InterfaceAddresses read() {
        Map<String, Map<ByteBuffer, Integer>> networkBits = new HashMap<>();
        try {
            NetworkInterface.networkInterfaces()
                    .forEach(netInterface -> networkBits.put(netInterface.getName(), networkBits(netInterface)));
        } catch (SocketException e) {
            // They are not known.
            networkBits.clear();
        }
        // A JVM of IPv4 alone lists no address of IPv6.
        return new InterfaceAddresses(
                networkBits, !Boolean.getBoolean("java.net.preferIPv4Stack"), InterfaceAddresses::hardware);
    }

    private static Map<ByteBuffer, Integer> networkBits(NetworkInterface netInterface) {
        Map<ByteBuffer, Integer> networkBits = new HashMap<>();
        for (InterfaceAddress address : netInterface.getInterfaceAddresses()) {
            byte[] bytes = address.getAddress().getAddress();
            int bits = address.getNetworkPrefixLength();
            networkBits.put(
                    ByteBuffer.wrap(GidEntry.mapped(bytes)), bits > 0 ? GID_BITS - Byte.SIZE * bytes.length + bits : 0);
        }
        return networkBits;
    }

    private static byte[] hardware(String netInterface) {
        try {
            return HexFormat.ofDelimiter(":")
                    .parseHex(Files.readString(Path.of("/sys/class/net", netInterface, "address"))
                            .strip());
        } catch (IOException | IllegalArgumentException e) {
            return NONE;
        }
    }

    /** The length of the prefix of an address's network in bits, of 128 for IPv4 too; 0 if it is not known. */
    int networkBits(String netInterface, byte[] gid) {
        return networkBits.getOrDefault(netInterface, Map.of()).getOrDefault(ByteBuffer.wrap(gid), 0);
    }

    /**
     * Whether an interface of this name has no such address here, so that an entry of both is another namespace's. A
     * port also has a link-local entry that the kernel makes of the hardware address, whether or not the interface has
     * that address.
     */
    boolean lacks(String netInterface, byte[] gid) {
        boolean listed = networkBits.getOrDefault(netInterface, Map.of()).containsKey(ByteBuffer.wrap(gid));
        if (networkBits.isEmpty() || listed) {
            return false;
        }
        return GidEntry.isIpv4(gid) || ipv6 && !isMadeOf(hardware.apply(netInterface), gid);
    }

    /** The two bytes between the halves of the hardware address differ between kinds of devices. */
    private static boolean isMadeOf(byte[] hardware, byte[] gid) {
        int at = LINK_LOCAL.length;
        return hardware.length == HARDWARE_BYTES
                && Arrays.equals(gid, 0, at, LINK_LOCAL, 0, at)
                && (gid[at] | UNIVERSAL) == (hardware[0] | UNIVERSAL)
                && Arrays.equals(gid, at + 1, at + 3, hardware, 1, 3)
                && Arrays.equals(gid, at + 5, at + 8, hardware, 3, HARDWARE_BYTES);
    }
}
