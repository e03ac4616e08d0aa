package io.farheap.verbs;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * An entry of a port's GID table.
 *
 * @param index its index in the table, by which a queue pair of that port uses it; -1 if it is the peer's
 * @param type {@code enum ibv_gid_type}: {@link #INFINIBAND}, {@link #ROCE_V1}, {@link #ROCE_V2} or {@link #UNKNOWN}
 * @param networkBits the length of the network's prefix in bits, of 128 for IPv4 too; 0 if it is not known
 * @param netInterface the network interface that has this address; empty if none has it here; null if it is not known
 * @param bytes the GID, 16 bytes: on Ethernet an IPv6 address, or an IPv4 address that is mapped into one
 * @param elsewhere whether the interface is another network namespace's: here, none of that name has this address
 * @param stacked whether the interface is one over the device's own, such as a VLAN's, as far as it is known
 */
record GidEntry(
        int index,
        int type,
        int networkBits,
        @Nullable String netInterface,
        byte[] bytes,
        boolean elsewhere,
        boolean stacked) {

    static final int INFINIBAND = 0;
    static final int ROCE_V1 = 1;
    static final int ROCE_V2 = 2;
    static final int UNKNOWN = -1;

    /** An entry in a message: a byte for the type, one for the length of the prefix, and the GID. */
    static final int ENCODED_BYTES = 18;
    /**
     * The most entries that a peer receives; a host of many containers or VLANs has more in its table. A server takes
     * messages of at most 4 KiB.
     */
    static final int MOST_OFFERED = 32;

    /** An index of the peer's. */
    private static final int FOREIGN = -1;

    private static final int GID_BYTES = 16;
    private static final int IPV4_PREFIX_BYTES = 12;
    private static final byte[] ZERO = new byte[GID_BYTES];
    /** 224.0.0.0 and those behind it are of groups, or reserved. */
    private static final int FIRST_IPV4_GROUP = 224;

    private static final byte[] IPV4_PREFIX = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, (byte) 0xFF, (byte) 0xFF};
    /** The most entries that a message names. */
    private static final int MOST_NAMED = 8;

    /** An entry whose interface, if it is known, is the device's own, in this network namespace. */
    GidEntry(int index, int type, int networkBits, @Nullable String netInterface, byte[] bytes) {
        this(index, type, networkBits, netInterface, bytes, false, false);
    }

    /** A peer's entry, of which the rest is not known. */
    static GidEntry ofPeer(int type, byte[] gid) {
        return new GidEntry(FOREIGN, type, 0, null, gid);
    }

    /** Whether the address is an IPv4 address. */
    boolean isIpv4() {
        return isIpv4(bytes);
    }

    /** Whether a GID is an IPv4 address. */
    static boolean isIpv4(byte[] gid) {
        return Arrays.equals(gid, 0, IPV4_PREFIX_BYTES, IPV4_PREFIX, 0, IPV4_PREFIX_BYTES);
    }

    /** The GID of an address of 4 or 16 bytes. */
    static byte[] mapped(byte[] address) {
        if (address.length == GID_BYTES) {
            return address;
        }
        byte[] gid = Arrays.copyOf(IPV4_PREFIX, GID_BYTES);
        System.arraycopy(address, 0, gid, IPV4_PREFIX_BYTES, address.length);
        return gid;
    }

    /** Whether the address is one of its link alone, of either family: 169.254.0.0/16 or fe80::/10. */
    boolean isLinkLocal() {
        if (isIpv4()) {
            return bytes[IPV4_PREFIX_BYTES] == (byte) 169 && bytes[IPV4_PREFIX_BYTES + 1] == (byte) 254;
        }
        return bytes[0] == (byte) 0xfe && (bytes[1] & 0xc0) == 0x80;
    }

    /** Whether a packet can be sent to the address: it is neither zero nor one of a group. */
    boolean isDestination() {
        if (isIpv4()) {
            int first = Byte.toUnsignedInt(bytes[IPV4_PREFIX_BYTES]);
            return first > 0 && first < FIRST_IPV4_GROUP;
        }
        return bytes[0] != (byte) 0xff && !Arrays.equals(bytes, ZERO);
    }

    /** Whether the network interface is there, as far as the kernel reports: an entry without one sends nothing. */
    boolean hasInterface() {
        return netInterface == null || !netInterface.isEmpty();
    }

    /** {@link #rank(int)} by its own type. */
    int rank() {
        return rank(type);
    }

    /**
     * How well an entry of an Ethernet port reaches others; more is better. RoCEv2 can be routed, by an address that
     * can: IPv4 before IPv6. An address of one link alone, of either family, comes behind both, in the same order.
     *
     * @param as the type that it is taken for
     */
    int rank(int as) {
        if (as != ROCE_V2) {
            return isIpv4() ? 1 : 0;
        }
        return (isLinkLocal() ? 2 : 4) + (isIpv4() ? 1 : 0);
    }

    /** A copy that is {@link #stacked}, or not. */
    GidEntry asStacked(boolean over) {
        return new GidEntry(index, type, networkBits, netInterface, bytes, elsewhere, over);
    }

    /** What a peer learns of the entry: two entries of one type and address, of different interfaces, are equal. */
    ByteBuffer identity() {
        return ByteBuffer.allocate(1 + GID_BYTES).put((byte) type).put(bytes).flip();
    }

    /** Whether this is the same address of the same type, at whatever index. */
    boolean isSame(GidEntry other) {
        return type == other.type && Arrays.equals(bytes, other.bytes);
    }

    /**
     * At most so many of the entries, in their order. If there are more, the types, the families and the addresses of
     * one link alone take turns, so that each of these has some; the first entry is always among them.
     */
    private static List<GidEntry> some(List<GidEntry> entries, int most) {
        if (entries.size() <= most) {
            return entries;
        }
        Map<List<Object>, Integer> counts = new HashMap<>();
        int[] rounds = new int[entries.size()];
        for (int i = 0; i < rounds.length; i++) {
            GidEntry entry = entries.get(i);
            List<Object> group = List.of(entry.type, entry.isIpv4(), entry.isLinkLocal());
            rounds[i] = counts.getOrDefault(group, 0);
            counts.put(group, rounds[i] + 1);
        }
        return IntStream.range(0, rounds.length)
                .boxed()
                .sorted(Comparator.comparingInt((Integer i) -> rounds[i]))
                .limit(most)
                .sorted()
                .map(i -> entries.get(i))
                .toList();
    }

    /** The entries that an end offers its peer, the best first: at most {@value #MOST_OFFERED}, some of each family. */
    static List<GidEntry> offered(List<GidEntry> entries) {
        return some(entries, MOST_OFFERED);
    }

    /** How many bits at the beginning of both addresses are equal. */
    int commonBits(GidEntry other) {
        int differing = Arrays.mismatch(bytes, other.bytes);
        return differing < 0
                ? Byte.SIZE * GID_BYTES
                : Byte.SIZE * differing
                        + Integer.numberOfLeadingZeros((bytes[differing] ^ other.bytes[differing]) & 0xFF)
                        - (Integer.SIZE - Byte.SIZE);
    }

    /** The entries as a peer receives them: {@value #ENCODED_BYTES} bytes each, at most {@value #MOST_OFFERED}. */
    static byte[] encode(List<GidEntry> entries) {
        byte[] all = new byte[entries.size() * ENCODED_BYTES];
        int at = 0;
        for (GidEntry entry : entries) {
            all[at] = (byte) entry.type;
            all[at + 1] = (byte) entry.networkBits;
            System.arraycopy(entry.bytes, 0, all, at + 2, GID_BYTES);
            at += ENCODED_BYTES;
        }
        return all;
    }

    /** A peer's entries, in its order; their length has been checked. An entry of an unknown type is left out. */
    static List<GidEntry> decode(byte[] encoded) {
        List<GidEntry> entries = new ArrayList<>();
        for (int at = 0; at < encoded.length; at += ENCODED_BYTES) {
            int type = encoded[at];
            if (type >= UNKNOWN && type <= ROCE_V2) {
                entries.add(new GidEntry(
                        FOREIGN,
                        type,
                        Byte.toUnsignedInt(encoded[at + 1]),
                        null,
                        Arrays.copyOfRange(encoded, at + 2, at + ENCODED_BYTES)));
            }
        }
        return entries;
    }

    /** The entries as a message names them, {@value #MOST_NAMED} of them, some of each family. */
    static String list(List<GidEntry> entries) {
        if (entries.isEmpty()) {
            return "no GID";
        }
        String named =
                some(entries, MOST_NAMED).stream().map(GidEntry::toString).collect(Collectors.joining(", "));
        int more = entries.size() - MOST_NAMED;
        return more > 0 ? named + " and " + more + " more" : named;
    }

    /** The address as text: an IPv4 address if it is one, else an IPv6 address. */
    static String address(byte[] gid) {
        try {
            return InetAddress.getByAddress(gid).getHostAddress();
        } catch (UnknownHostException e) {
            throw new IllegalArgumentException("a GID of " + gid.length + " bytes", e);
        }
    }

    private String typeName() {
        return switch (type) {
            case INFINIBAND -> "InfiniBand";
            case ROCE_V1 -> "RoCEv1";
            case ROCE_V2 -> "RoCEv2";
            default -> "type unknown";
        };
    }

    @Override
    public String toString() {
        StringBuilder text = new StringBuilder();
        if (index >= 0) {
            text.append("GID ").append(index).append(' ');
        }
        text.append(address(bytes)).append(" (").append(typeName());
        if (netInterface != null) {
            text.append(", ").append(netInterface.isEmpty() ? "no interface" : netInterface);
        }
        if (elsewhere) {
            text.append(" elsewhere");
        }
        return text.append(')').toString();
    }
}
