package io.farheap.verbs;

import java.io.IOException;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A port's GID table at one moment, and the entries of it by which a connection may be addressed. The kernel adds and
 * removes entries when addresses, VLANs and containers come and go, so an index means nothing at another moment: a
 * table is read for each connection.
 */
final class GidTable {

    /** An address vector has one byte for the index. */
    private static final int MAX_ENTRIES = 256;

    /** A port's table as the verbs library returns it. */
    interface Source {

        /** The 16 bytes of an entry, or null if it is empty. */
        byte @Nullable [] gid(int index);

        /** {@code enum ibv_gid_type} of an entry, or {@link GidEntry#UNKNOWN}. */
        int type(int index);
    }

    private final String port;
    private final boolean ethernet;
    private final List<GidEntry> entries;

    /**
     * @param port the port's name in messages, such as {@code port 1 of mlx5_0}
     * @param ethernet whether its link layer is Ethernet (RoCE)
     * @param entries those that are not empty, in the order of their indices
     */
    GidTable(String port, boolean ethernet, List<GidEntry> entries) {
        this.port = port;
        this.ethernet = ethernet;
        this.entries = List.copyOf(entries);
    }

    /**
     * Reads the entries that are not empty.
     *
     * @param directory the port's directory in sysfs, which a device of a library alone does not have
     * @param ethernet whether the port's link layer is Ethernet
     * @param from the first index
     * @param to behind the last index, at most the length of the table
     * @param addresses called at most once, if an entry has a network interface
     */
    static List<GidEntry> read(
            Path directory, boolean ethernet, int from, int to, Source source, Supplier<InterfaceAddresses> addresses) {
        Path attributes = directory.resolve("gid_attrs");
        // On InfiniBand no entry has an interface.
        boolean interfaces = ethernet && Files.isDirectory(attributes.resolve("ndevs"));
        InterfaceAddresses here = null;
        List<GidEntry> entries = new ArrayList<>();
        for (int index = from; index < Math.min(to, MAX_ENTRIES); index++) {
            byte[] gid = source.gid(index);
            if (gid == null) {
                continue;
            }
            int type = ethernet ? type(attributes, index, source) : GidEntry.INFINIBAND;
            String netInterface = interfaces ? text(attributes, "ndevs", index) : null;
            if (netInterface == null || netInterface.isEmpty()) {
                entries.add(new GidEntry(index, type, 0, netInterface, gid));
                continue;
            }
            if (here == null) {
                here = addresses.get();
            }
            entries.add(new GidEntry(
                    index,
                    type,
                    here.networkBits(netInterface, gid),
                    netInterface,
                    gid,
                    here.lacks(netInterface, gid),
                    false));
        }
        return interfaces && distinct(entries).size() < entries.size() ? stacked(directory, entries) : entries;
    }

    /** The entries, with those marked whose interface is over one that is the device's own. */
    private static List<GidEntry> stacked(Path directory, List<GidEntry> entries) {
        Set<String> own = ownInterfaces(directory.resolve("../.."));
        return entries.stream()
                .map(entry -> entry.asStacked(
                        !own.isEmpty() && entry.hasInterface() && !own.contains(String.valueOf(entry.netInterface()))))
                .toList();
    }

    /**
     * The device's interfaces, and the bonds or bridges that these are in: such an interface has its addresses then.
     * Empty if they are in another network namespace.
     */
    private static Set<String> ownInterfaces(Path device) {
        Set<String> own = new HashSet<>();
        try (DirectoryStream<Path> interfaces = Files.newDirectoryStream(device.resolve("device/net"))) {
            for (Path netInterface : interfaces) {
                own.add(netInterface.getFileName().toString());
                Path master = netInterface.resolve("master");
                if (Files.isSymbolicLink(master)) {
                    own.add(Files.readSymbolicLink(master).getFileName().toString());
                }
            }
        } catch (IOException | DirectoryIteratorException e) {
            // rxe has no hardware; the kernel has its interface in another file.
            try {
                own.add(Files.readString(device.resolve("parent")).strip());
            } catch (IOException none) {
                return Set.of();
            }
        }
        return own;
    }

    /** Whether an entry of an earlier table of an Ethernet port is still at its index. It alone is read. */
    static boolean isThere(Path directory, GidEntry entry, Source source) {
        byte[] gid = source.gid(entry.index());
        if (gid == null || !Arrays.equals(gid, entry.bytes())) {
            return false;
        }
        Path attributes = directory.resolve("gid_attrs");
        return type(attributes, entry.index(), source) == entry.type()
                && (entry.netInterface() == null
                        || entry.netInterface().equals(text(attributes, "ndevs", entry.index())));
    }

    /** The type on Ethernet; an old library does not return it. */
    private static int type(Path attributes, int index, Source source) {
        int type = source.type(index);
        if (type != GidEntry.UNKNOWN) {
            return type;
        }
        return switch (text(attributes, "types", index)) {
            case "RoCE v2" -> GidEntry.ROCE_V2;
            case "IB/RoCE v1" -> GidEntry.ROCE_V1;
            default -> GidEntry.UNKNOWN;
        };
    }

    /** An attribute of an entry. The kernel refuses to read those that the entry does not have. */
    private static String text(Path attributes, String name, int index) {
        try {
            return Files.readString(attributes.resolve(name).resolve(Integer.toString(index)))
                    .strip();
        } catch (IOException e) {
            return "";
        }
    }

    /** The entries that are not empty, in the order of their indices. */
    List<GidEntry> entries() {
        return entries;
    }

    /**
     * The entries by which a connection may be addressed, the best first. On Ethernet they are those whose network
     * interface is there, in this network namespace if any is, by their {@link GidEntry#rank}, of one rank by their
     * index. Of those with one type and address it is one, the device's own interface's before a VLAN's. On InfiniBand
     * it is entry 0, which every port has.
     *
     * @param wanted an index, an address or a network interface that the user has chosen; empty for any
     * @return at least one
     * @throws VerbsException if there is none
     */
    List<GidEntry> candidates(String wanted) {
        if (!wanted.isEmpty()) {
            List<GidEntry> chosen = matching(wanted);
            if (chosen.isEmpty()) {
                throw VerbsException.ofAddress(wanted + " names no GID of " + port + ", which has "
                        + GidEntry.list(entries) + "; choose one by its index, its address or its network interface");
            }
            return best(chosen);
        }
        if (!ethernet) {
            return List.of(first());
        }
        List<GidEntry> usable = entries.stream().filter(GidEntry::hasInterface).toList();
        if (usable.isEmpty()) {
            throw VerbsException.ofAddress(port + " has no GID with a network interface, only " + GidEntry.list(entries)
                    + "; give its interface an address, in the network namespace of this process");
        }
        return best(here(usable));
    }

    /** Those of this network namespace; if none is, all: what is known here may be wrong. */
    private static List<GidEntry> here(List<GidEntry> entries) {
        List<GidEntry> here =
                entries.stream().filter(entry -> !entry.elsewhere()).toList();
        return here.isEmpty() ? entries : here;
    }

    private GidEntry first() {
        return !entries.isEmpty() && entries.getFirst().index() == 0
                ? entries.getFirst()
                : new GidEntry(0, GidEntry.INFINIBAND, 0, null, new byte[Endpoint.GID_BYTES]);
    }

    private static List<GidEntry> best(List<GidEntry> entries) {
        return distinct(entries).stream()
                .sorted(Comparator.comparingInt((GidEntry entry) -> -entry.rank())
                        .thenComparingInt(GidEntry::index))
                .toList();
    }

    /**
     * One of each type and address: a peer cannot tell those of different interfaces apart. The one of this network
     * namespace is the best, then that of the device's own interface, then the first.
     */
    private static List<GidEntry> distinct(List<GidEntry> entries) {
        Map<ByteBuffer, GidEntry> distinct = new LinkedHashMap<>();
        for (GidEntry entry : entries) {
            GidEntry twin = distinct.get(entry.identity());
            if (twin == null || isNearer(entry, twin)) {
                distinct.put(entry.identity(), entry);
            }
        }
        return List.copyOf(distinct.values());
    }

    private static boolean isNearer(GidEntry entry, GidEntry twin) {
        return entry.elsewhere() == twin.elsewhere() ? !entry.stacked() && twin.stacked() : twin.elsewhere();
    }

    /** Whether the user's choice names an entry. */
    boolean has(String wanted) {
        return !matching(wanted).isEmpty();
    }

    private List<GidEntry> matching(String wanted) {
        if (isIndex(wanted)) {
            int index = Integer.parseInt(wanted);
            return entries.stream().filter(entry -> entry.index() == index).toList();
        }
        int percent = wanted.indexOf('%');
        byte[] address = address(percent < 0 ? wanted : wanted.substring(0, percent));
        if (address == null) {
            return here(entries.stream()
                    .filter(entry -> wanted.equals(entry.netInterface()))
                    .toList());
        }
        // Several interfaces may have one link-local address.
        String scope = percent < 0 ? "" : wanted.substring(percent + 1);
        return entries.stream()
                .filter(entry ->
                        Arrays.equals(address, entry.bytes()) && (percent < 0 || scope.equals(entry.netInterface())))
                .toList();
    }

    /** Whether the user's choice is an index of the table. */
    static boolean isIndex(String wanted) {
        return wanted.matches("\\d{1,3}");
    }

    /** The bytes of a GID that is written as an IPv4 or IPv6 address; null if it is none. */
    private static byte @Nullable [] address(String text) {
        if (!text.matches("[0-9.]+") && !text.contains(":")) {
            return null;
        }
        try {
            return GidEntry.mapped(InetAddress.ofLiteral(text).getAddress());
        } catch (IllegalArgumentException e) {
            return null;
        }
    }

    /**
     * The index that an entry of an earlier table has now.
     *
     * @throws VerbsException if it is no longer there
     */
    int index(GidEntry entry) {
        if (!ethernet) {
            return entry.index();
        }
        GidEntry now = null;
        for (GidEntry other : entries) {
            boolean same = other.isSame(entry)
                    && (entry.netInterface() == null || entry.netInterface().equals(other.netInterface()));
            if (same && (now == null || other.index() == entry.index())) {
                now = other;
            }
        }
        if (now == null) {
            throw new VerbsException(entry + " has left the table of " + port
                    + " while a connection was made, which has " + GidEntry.list(entries) + " now; connect again");
        }
        return now.index();
    }
}
