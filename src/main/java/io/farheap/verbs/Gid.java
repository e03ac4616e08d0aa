package io.farheap.verbs;

import java.util.Arrays;
import java.util.HexFormat;
import org.jspecify.annotations.Nullable;

/** The GID by which a port is addressed, and its index in the port's table. */
record Gid(int index, byte[] bytes) {

    /**
     * Sets the index to use if {@link #choose} does not pick the right one, such as on a port with several networks.
     */
    static final String PROPERTY = "farheap.gid";

    private static final int ROCE_V2 = 2;
    /** An address vector has one byte for the index. */
    private static final int MAX_ENTRIES = 256;

    private static final int SUBNET_PREFIX_BYTES = 8;
    private static final int IPV4_PREFIX_BYTES = 12;
    private static final byte[] IPV4_PREFIX = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, (byte) 0xFF, (byte) 0xFF};

    /**
     * Chooses a GID. On Ethernet it is a RoCEv2 entry with an IPv4-mapped address if there is one, since that can be
     * routed; else any RoCEv2 entry, else entry 0. On InfiniBand it is entry 0, which every port has.
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
        int bestRank = -1;
        for (int index = 0; index < Math.min(port.gidEntries(), MAX_ENTRIES); index++) {
            byte[] bytes = context.gid(port.number(), index);
            if (bytes == null) {
                continue;
            }
            int rank = (context.gidType(port.number(), index) == ROCE_V2 ? 2 : 0) + (isIpv4Mapped(bytes) ? 1 : 0);
            if (rank > bestRank) {
                bestRank = rank;
                best = new Gid(index, bytes);
            }
        }
        return best;
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
