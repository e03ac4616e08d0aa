package io.farheap.verbs;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HexFormat;
import org.jspecify.annotations.Nullable;

/** The GID by which a port is addressed, and its index in the port's table. */
record Gid(int index, byte[] bytes) {

    /**
     * Sets the index to use if {@link #choose} does not pick the right one, such as on a port with several networks.
     */
    static final String PROPERTY = "farheap.gid";

    private static final Path SYSFS = Path.of("/sys/class/infiniband");
    private static final int ROCE_V2 = 2;
    /** An address vector has one byte for the index. */
    private static final int MAX_ENTRIES = 256;

    private static final int SUBNET_PREFIX_BYTES = 8;
    private static final int IPV4_PREFIX_BYTES = 12;
    private static final byte[] IPV4_PREFIX = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, (byte) 0xFF, (byte) 0xFF};

    /**
     * Chooses a GID. On Ethernet it is the entry of the best {@link #rank}, of these the first, whose network interface
     * is there; entry 0 if none is. On InfiniBand it is entry 0, which every port has.
     */
    static Gid choose(Context context, PortInfo port) {
        String wanted = System.getProperty(PROPERTY);
        if (wanted != null) {
            return wanted(wanted, context, port);
        }
        Gid best = new Gid(0, orZero(context.gid(port.number(), 0)));
        if (!port.ethernet()) {
            return best;
        }
        Path entries = SYSFS.resolve(context.device().name() + "/ports/" + port.number());
        int bestRank = -1;
        for (int index = 0; index < Math.min(port.gidEntries(), MAX_ENTRIES); index++) {
            byte[] bytes = context.gid(port.number(), index);
            if (bytes == null) {
                continue;
            }
            int rank = rank(context.gidType(port.number(), index), bytes);
            if (rank > bestRank && hasInterface(entries, index)) {
                bestRank = rank;
                best = new Gid(index, bytes);
            }
        }
        return best;
    }

    /**
     * How well a GID of an Ethernet port reaches others; more is better. RoCEv2 can be routed, by an address that can:
     * IPv4 before IPv6, since both ends need the same family. An address of one link alone, of either family, comes
     * behind both, in the same order.
     *
     * @param type {@code enum ibv_gid_type}
     */
    static int rank(int type, byte[] gid) {
        if (type != ROCE_V2) {
            return isIpv4Mapped(gid) ? 1 : 0;
        }
        if (isIpv4Mapped(gid)) {
            boolean ofLink = gid[IPV4_PREFIX_BYTES] == (byte) 169 && gid[IPV4_PREFIX_BYTES + 1] == (byte) 254;
            return ofLink ? 3 : 5;
        }
        boolean ofLink = gid[0] == (byte) 0xfe && (gid[1] & 0xc0) == 0x80;
        return ofLink ? 2 : 4;
    }

    /**
     * Whether the network interface of an entry is there, as far as the kernel says: an entry whose interface has left,
     * or is another network namespace's, sends nothing.
     *
     * @param port the port's directory in sysfs, which a device of a library alone does not have
     */
    static boolean hasInterface(Path port, int index) {
        Path interfaces = port.resolve("gid_attrs/ndevs");
        if (!Files.isDirectory(interfaces)) {
            return true;
        }
        try {
            return !Files.readString(interfaces.resolve(Integer.toString(index)))
                    .isBlank();
        } catch (IOException e) {
            // The kernel refuses to read the file of an entry without an interface.
            return false;
        }
    }

    private static Gid wanted(String property, Context context, PortInfo port) {
        int entries = Math.min(port.gidEntries(), MAX_ENTRIES);
        if (property.matches("\\d{1,3}")) {
            int index = Integer.parseInt(property);
            byte[] bytes = index < entries ? context.gid(port.number(), index) : null;
            if (bytes != null) {
                return new Gid(index, bytes);
            }
        }
        throw new VerbsException(PROPERTY + "=" + property + " names no GID of port " + port.number() + " of "
                + context.device().name() + ", which has entries up to " + (entries - 1)
                + ", some of them empty; ibv_devinfo -v lists them");
    }

    /**
     * Rejects, with a message that explains it, a peer for which a device would only report an invalid argument, or
     * would send packets that never arrive.
     *
     * @throws VerbsException if the peer cannot be reached from here
     */
    void checkReaches(Endpoint peer, PortInfo port) {
        if (port.ethernet() && isIpv4Mapped(peer.gid()) != isIpv4Mapped(bytes)) {
            throw new VerbsException("cannot reach " + peer + " from GID " + this
                    + ": one of them is an IPv4 address and the other is not; "
                    + "give both ports an IPv4 address, or choose GIDs with -D" + PROPERTY + "=INDEX");
        }
        // A LID is valid only within its subnet; a router's LID comes from a path query, which needs a subnet
        // administrator.
        if (!port.ethernet() && !Arrays.equals(peer.gid(), 0, SUBNET_PREFIX_BYTES, bytes, 0, SUBNET_PREFIX_BYTES)) {
            throw new VerbsException("cannot reach " + peer + " from GID " + this
                    + ": they are in different InfiniBand subnets; connect machines of one subnet");
        }
    }

    private static byte[] orZero(byte @Nullable [] bytes) {
        return bytes == null ? new byte[Endpoint.GID_BYTES] : bytes;
    }

    private static boolean isIpv4Mapped(byte[] gid) {
        return Arrays.equals(gid, 0, IPV4_PREFIX_BYTES, IPV4_PREFIX, 0, IPV4_PREFIX_BYTES);
    }

    @Override
    public String toString() {
        return HexFormat.of().formatHex(bytes);
    }
}
