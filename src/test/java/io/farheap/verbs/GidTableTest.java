package io.farheap.verbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The entry that a port prefers, for tables on which other programs have chosen badly, and what a user may name. */
class GidTableTest {

    /** The bond's port has the same IPv4 address on a VXLAN interface and on the bond. */
    private static final String VXLAN_AND_BOND = """
            0 fe80::ac0:ebff:fe79:391a v1 bond1
            1 fe80::ac0:ebff:fe79:391a v2 bond1
            2 30.153.10.175 v1 b3.vxlan.30100
            3 30.153.10.175 v2 b3.vxlan.30100
            4 30.153.10.175 v1 bond1
            5 30.153.10.175 v2 bond1
            """;

    /** The addresses of interfaces are not known. */
    private static final InterfaceAddresses UNKNOWN = interfaces("");

    private static GidTable ethernet(String lines) {
        return new GidTable("port 1 of mlx5_0", true, GidEntries.table(lines));
    }

    private static int preferred(String lines) {
        return ethernet(lines).candidates("").getFirst().index();
    }

    /** The first entry of RoCEv2 is link-local, and only a later one reaches other machines. */
    @Test
    void globalIpv6ComesBeforeLinkLocal() {
        assertEquals(3, preferred("""
                0 fe80::1 v1 eth0
                1 fe80::1 v2 eth0
                2 2605:340:cd51::1 v1 eth0
                3 2605:340:cd51::1 v2 eth0
                """));
    }

    /** A port without IPv4 has a unique local address behind its link-local one. */
    @Test
    void aUniqueLocalAddressRoutes() {
        assertEquals(1, preferred("""
                0 fe80::1 v2 eth0
                1 fd93:16d3:59b6::1 v2 eth0
                """));
    }

    /** With the link-local entry connections time out, and with the IPv4 entry of the bond they work. */
    @Test
    void ipv4ComesFirst() {
        assertEquals(3, preferred("""
                0 fe80::ac0:ebff:feda:1cfb v1 bond0
                1 fe80::ac0:ebff:feda:1cfb v2 bond0
                2 200.0.209.6 v1 bond0
                3 200.0.209.6 v2 bond0
                """));
    }

    /** An address of 10.0.0.0/8 is as good as any other. */
    @Test
    void aPrivateIpv4AddressRoutes() {
        assertEquals(3, preferred("""
                0 fe80::1 v1 ens16np0
                1 fe80::1 v2 ens16np0
                2 10.14.2.72 v1 ens16np0
                3 10.14.2.72 v2 ens16np0
                """));
    }

    /** There is no address that routes at all. */
    @Test
    void linkLocalIsTakenIfThereIsNothingElse() {
        assertEquals(1, preferred("""
                0 fe80::225:9dff:fe33:33aa v1 bond1
                1 fe80::225:9dff:fe33:33aa v2 bond1
                """));
        assertEquals(0, preferred("0 fe80::225:9dff:fe33:33aa v1 bond1"));
    }

    /** The first IPv4 entry was a container's, whose network interface has gone. */
    @Test
    void anEntryWithoutAnInterfaceIsPassedOver() {
        assertEquals(7, preferred("""
                3 26.208.8.250 v2
                7 26.208.8.252 v2 eth1
                """));
        String said = assertThrows(VerbsException.class, () -> preferred("3 26.208.8.250 v2"))
                .getMessage();
        assertEquals(
                "port 1 of mlx5_0 has no GID with a network interface, only GID 3 26.208.8.250 (RoCEv2, no interface); "
                        + "give its interface an address, in the network namespace of this process",
                said);
    }

    /** Other addresses came, and the entry has moved to another index. */
    @Test
    void anEntryIsFoundAtItsNewIndex() {
        GidEntry entry = ethernet("""
                1 fe80::1 v2 eth0
                3 10.0.0.5 v2 eth0
                """).candidates("").getFirst();
        assertEquals(8, ethernet("""
                1 fe80::1 v2 eth0
                3 10.9.9.9 v2 eth0
                7 10.0.0.5 v1 eth0
                8 10.0.0.5 v2 eth0
                """).index(entry));
        String said = assertThrows(VerbsException.class, () -> ethernet("1 fe80::1 v2 eth0")
                        .index(entry))
                .getMessage();
        assertTrue(
                said.startsWith("GID 3 10.0.0.5 (RoCEv2, eth0) has left the table of port 1 of mlx5_0")
                        && said.endsWith("connect again"),
                said);
    }

    /** Two interfaces have one address: the interface tells their entries apart. */
    @Test
    void anInterfaceChoosesAmongEqualAddresses() {
        GidTable table = ethernet(VXLAN_AND_BOND);
        assertEquals(3, table.candidates("").getFirst().index());
        List<GidEntry> ofBond = table.candidates("bond1");
        assertEquals(5, ofBond.getFirst().index());
        assertEquals(4, ofBond.size());
        assertEquals(3, table.candidates("b3.vxlan.30100").getFirst().index());
        assertEquals(
                5,
                ethernet(VXLAN_AND_BOND.replace("3 30.153.10.175", "9 30.153.10.175"))
                        .index(ofBond.getFirst()));
    }

    @Test
    void anIndexOrAnAddressIsTakenAsItIs() {
        GidTable table = ethernet(VXLAN_AND_BOND);
        assertEquals(0, table.candidates("0").getFirst().index());
        assertEquals(1, table.candidates("0").size());
        assertEquals(1, table.candidates("fe80::ac0:ebff:fe79:391a").getFirst().index());
        assertEquals(
                1, table.candidates("FE80:0::ac0:ebff:fe79:391a").getFirst().index());
        assertEquals(3, table.candidates("30.153.10.175").getFirst().index());
        assertEquals(3, table.candidates("::ffff:30.153.10.175").getFirst().index());
        assertEquals(3, ethernet("3 26.208.8.250 v2").candidates("3").getFirst().index());
    }

    @Test
    void aNameOfNoEntryIsRefused() {
        GidTable table = ethernet("1 10.0.0.5 v2 eth0");
        for (String none : List.of("0", "255", "1000", "-1", "x", "eth", "10.0.0.6", "10.0.0", "fe80::1", "fe80::x")) {
            assertEquals(
                    none + " names no GID of port 1 of mlx5_0, which has GID 1 10.0.0.5 (RoCEv2, eth0);"
                            + " choose one by its index, its address or its network interface",
                    assertThrows(VerbsException.class, () -> table.candidates(none))
                            .getMessage());
        }
        String many = String.join(
                "\n",
                IntStream.range(0, 20)
                        .mapToObj(i -> i + " 10.0.0." + i + " v2 eth0")
                        .toList());
        String said = assertThrows(VerbsException.class, () -> ethernet(many).candidates("x"))
                .getMessage();
        assertTrue(said.contains("GID 7 10.0.0.7 (RoCEv2, eth0) and 12 more; choose"), said);
    }

    @Test
    void infinibandHasEntryZero() {
        GidEntry zero = new GidEntry(0, GidEntry.INFINIBAND, 0, "", GidEntries.gid("fe80::1"));
        GidEntry other = new GidEntry(1, GidEntry.INFINIBAND, 0, "", GidEntries.gid("fe80::2"));
        GidTable table = new GidTable("port 1 of mlx5_0", false, List.of(zero, other));
        assertEquals(List.of(zero), table.candidates(""));
        assertEquals(List.of(other), table.candidates("1"));
        assertEquals(
                0,
                new GidTable("port 1 of mlx5_0", false, List.of(other))
                        .candidates("")
                        .getFirst()
                        .index());
    }

    @Test
    void aPeerIsToldTheBest() {
        String many = String.join(
                "\n",
                IntStream.range(0, 200)
                        .mapToObj(i -> i + (i == 150 ? " 10.0.0.1" : " fe80::" + i) + " v2 eth0")
                        .toList());
        List<GidEntry> all = ethernet(many).candidates("");
        assertEquals(200, all.size());
        List<GidEntry> offered = GidEntry.offered(all);
        assertEquals(GidEntry.MOST_OFFERED, offered.size());
        assertEquals(150, offered.getFirst().index());
        assertEquals(0, offered.get(1).index());
    }

    /** The GIDs of the test's port, and the type of all as the library returns it. */
    private record Library(List<String> addresses, int type, List<Integer> read) implements GidTable.Source {

        Library(List<String> addresses, int type) {
            this(addresses, type, new ArrayList<>());
        }

        @Override
        public byte[] gid(int index) {
            read.add(index);
            return addresses.get(index).isEmpty() ? null : GidEntries.gid(addresses.get(index));
        }

        @Override
        public int type(int index) {
            return type;
        }
    }

    /** An old library returns no type, and only the kernel's files have the interfaces. */
    @Test
    void typesAndInterfacesAreReadFromTheKernelsFiles(@TempDir Path port) throws IOException {
        Library old = new Library(List.of("fe80::1", "fe80::1", "", "10.0.0.5", "10.0.0.6", "10.0.0.7"), -1);
        assertEquals(
                "GID 0 fe80:0:0:0:0:0:0:1 (type unknown), GID 1 fe80:0:0:0:0:0:0:1 (type unknown)",
                GidEntry.list(read(port, old, 2, UNKNOWN)));
        Path attributes = port.resolve("gid_attrs");
        Files.createDirectories(attributes.resolve("types"));
        Files.createDirectories(attributes.resolve("ndevs"));
        for (int index : new int[] {0, 1, 3, 4}) {
            Files.writeString(attributes.resolve("types/" + index), index == 0 ? "IB/RoCE v1\n" : "RoCE v2\n");
            Files.writeString(attributes.resolve("ndevs/" + index), index == 3 ? "\n" : "eth7\n");
        }
        GidTable table = new GidTable("port 1 of mlx5_0", true, read(port, old, 6, UNKNOWN));
        assertEquals(
                "GID 0 fe80:0:0:0:0:0:0:1 (RoCEv1, eth7), GID 1 fe80:0:0:0:0:0:0:1 (RoCEv2, eth7), "
                        + "GID 3 10.0.0.5 (RoCEv2, no interface), GID 4 10.0.0.6 (RoCEv2, eth7), "
                        + "GID 5 10.0.0.7 (type unknown, no interface)",
                GidEntry.list(table.entries()));
        assertEquals(4, table.candidates("").getFirst().index());
        assertEquals(
                GidEntry.INFINIBAND,
                GidTable.read(port, false, 0, 1, old, () -> UNKNOWN).getFirst().type());
    }

    /** Interfaces of lines {@code INTERFACE ADDRESS/BITS}; each has the hardware address 0c:42:a1:00:00:07. */
    private static InterfaceAddresses interfaces(String lines) {
        Map<String, Map<ByteBuffer, Integer>> networkBits = new HashMap<>();
        lines.lines().forEach(line -> {
            List<String> words = List.of(line.split("[ /]"));
            int bits = Integer.parseInt(words.get(2)) + (words.get(1).contains(".") ? 96 : 0);
            networkBits
                    .computeIfAbsent(words.getFirst(), name -> new HashMap<>())
                    .put(ByteBuffer.wrap(GidEntries.gid(words.get(1))), bits);
        });
        return new InterfaceAddresses(networkBits, true, name -> HexFormat.of().parseHex("0c42a1000007"));
    }

    private static List<GidEntry> read(Path port, Library library, int length, InterfaceAddresses addresses) {
        return GidTable.read(port, true, 0, length, library, () -> addresses);
    }

    /** Writes the interfaces of the entries, by index, as the kernel's files have them. */
    private static void writeInterfaces(Path port, String... names) throws IOException {
        Path directory = Files.createDirectories(port.resolve("gid_attrs/ndevs"));
        for (int index = 0; index < names.length; index++) {
            Files.writeString(directory.resolve(Integer.toString(index)), names[index] + "\n");
        }
    }

    @Test
    void theLengthOfTheNetworkIsTheInterfaces(@TempDir Path port) throws IOException {
        writeInterfaces(port, "eth0", "eth1", "eth0");
        Library library = new Library(List.of("10.1.0.5", "10.2.0.5", "fd00::5"), GidEntry.ROCE_V2);
        List<GidEntry> entries =
                read(port, library, 3, interfaces("eth0 10.1.0.5/24\neth1 10.1.0.5/16\neth0 fd00::5/48"));
        assertEquals(
                List.of(120, 0, 48), entries.stream().map(GidEntry::networkBits).toList());
    }

    /**
     * All containers of a host see the entries of all, and their interfaces often have one name: the address shows
     * which are this one's.
     */
    @Test
    void anotherContainersEntryOfTheSameInterfaceNameIsPassedOver(@TempDir Path port) throws IOException {
        writeInterfaces(port, "net1", "net1", "net1", "eth9");
        Library library = new Library(List.of("10.56.0.2", "10.56.0.3", "fe80::2", "10.56.0.4"), GidEntry.ROCE_V2);
        GidTable table = new GidTable(
                "port 1 of mlx5_0", true, read(port, library, 4, interfaces("net1 10.56.0.3/24\nlo 127.0.0.1/8")));
        assertEquals("GID 1 10.56.0.3 (RoCEv2, net1)", GidEntry.list(table.candidates("")));
        assertEquals("GID 1 10.56.0.3 (RoCEv2, net1)", GidEntry.list(table.candidates("net1")));
        assertEquals("GID 0 10.56.0.2 (RoCEv2, net1 elsewhere)", GidEntry.list(table.candidates("0")), "as it is");
        GidTable unknown = new GidTable("port 1 of mlx5_0", true, read(port, library, 4, UNKNOWN));
        assertEquals(4, unknown.candidates("").size(), "nothing is known of the interfaces");
    }

    /** If what is known of the interfaces fits no entry, it may be wrong. */
    @Test
    void entriesElsewhereAreBetterThanNone() {
        assertEquals(3, preferred("""
                1 fe80::1 v2 eth0 elsewhere
                3 10.0.0.5 v2 eth0 elsewhere
                """));
        assertEquals(1, preferred("""
                1 fe80::1 v2 eth0
                3 10.0.0.5 v2 eth0 elsewhere
                """));
    }

    /** The kernel makes a link-local entry of the hardware address, also for an interface without IPv6. */
    @Test
    void anEntryThatIsMadeOfTheHardwareAddressIsHere(@TempDir Path port) throws IOException {
        writeInterfaces(port, "eth0", "eth0", "eth0");
        Library library = new Library(
                List.of("fe80::e42:a1ff:fe00:7", "fe80::e42:a1ff:fe00:8", "fe80::e42:a100:100:7"), GidEntry.ROCE_V2);
        assertEquals(
                List.of(false, true, false),
                read(port, library, 3, interfaces("lo 127.0.0.1/8")).stream()
                        .map(GidEntry::elsewhere)
                        .toList());
    }

    /** A JVM of IPv4 alone sees no address of IPv6, and so knows nothing of such entries. */
    @Test
    void aJvmOfIpv4AloneKnowsNothingOfIpv6() {
        InterfaceAddresses addresses = new InterfaceAddresses(
                Map.of("eth0", Map.of(ByteBuffer.wrap(GidEntries.gid("10.0.0.5")), 120)), false, name -> new byte[0]);
        assertFalse(addresses.lacks("eth0", GidEntries.gid("fd00::5")));
        assertFalse(addresses.lacks("eth0", GidEntries.gid("10.0.0.5")));
        assertTrue(addresses.lacks("eth0", GidEntries.gid("10.0.0.6")));
    }

    /** This machine's interfaces: a loopback address, if it has one, has its length. */
    @Test
    void theAddressesOfThisMachineAreRead() {
        InterfaceAddresses addresses = InterfaceAddresses.read();
        byte[] loopback = GidEntries.gid("127.0.0.1");
        assumeFalse(addresses.lacks("lo", loopback) || addresses.networkBits("lo", loopback) == 0);
        assertEquals(96 + 8, addresses.networkBits("lo", loopback));
        assertTrue(addresses.lacks("lo", GidEntries.gid("203.0.113.9")));
    }

    /** A connection looks at its entry alone, and at the addresses of interfaces once for a table. */
    @Test
    void littleIsReadForAConnection(@TempDir Path port) throws IOException {
        writeInterfaces(port, "eth0", "eth1", "eth2");
        Library library = new Library(List.of("10.1.0.5", "10.2.0.5", "10.3.0.5"), GidEntry.ROCE_V2);
        int[] calls = new int[1];
        List<GidEntry> entries = GidTable.read(port, true, 0, 3, library, () -> {
            calls[0]++;
            return UNKNOWN;
        });
        assertEquals(1, calls[0]);
        library.read.clear();
        assertTrue(GidTable.isThere(port, entries.get(1), library));
        assertEquals(List.of(1), library.read);

        Library other = new Library(List.of("10.1.0.5", "10.9.0.5", ""), GidEntry.ROCE_V2);
        assertFalse(GidTable.isThere(port, entries.get(1), other), "another address");
        assertFalse(GidTable.isThere(port, entries.get(2), other), "no address");
        assertFalse(
                GidTable.isThere(port, entries.get(0), new Library(List.of("10.1.0.5"), GidEntry.ROCE_V1)),
                "another type");
        writeInterfaces(port, "eth7");
        assertFalse(GidTable.isThere(port, entries.get(0), library), "another interface");

        library.read.clear();
        assertEquals(1, GidTable.read(port, true, 2, 3, library, () -> UNKNOWN).size());
        assertEquals(List.of(2), library.read, "one entry that is chosen by its index");
    }

    private static final String VLANS = """
            1 fe80::1 v2 eth0.1 stacked
            2 fe80::1 v2 eth0
            3 fe80::1 v2 eth0 elsewhere
            4 10.1.0.5 v2 eth0.1 stacked
            """;

    /** Every VLAN of a port has its link-local address, and a peer learns it once: it is that of the port itself. */
    @Test
    void ofOneAddressTheDevicesOwnInterfacesIsTaken() {
        assertEquals(
                "GID 4 10.1.0.5 (RoCEv2, eth0.1), GID 2 fe80:0:0:0:0:0:0:1 (RoCEv2, eth0)",
                GidEntry.list(ethernet(VLANS).candidates("")));
        assertEquals(2, ethernet(VLANS).candidates("fe80::1").getFirst().index());
        assertEquals(
                List.of(4, 1),
                ethernet(VLANS).candidates("eth0.1").stream()
                        .map(GidEntry::index)
                        .toList());
        String bond = VXLAN_AND_BOND.replace("vxlan.30100", "vxlan.30100 stacked");
        assertEquals(5, preferred(bond));
        assertEquals(3, ethernet(bond).candidates("b3.vxlan.30100").getFirst().index());
    }

    @Test
    void theDevicesInterfaceAndItsBondAreItsOwn(@TempDir Path device) throws IOException {
        Path port = Files.createDirectories(device.resolve("ports/1"));
        Library library = new Library(List.of("10.0.0.5", "10.0.0.5", "fe80::1", "fe80::1"), GidEntry.ROCE_V2);
        writeInterfaces(port, "bond1.30", "bond1", "eth0", "vx0");
        assertEquals(List.of(false, false, false, false), stacked(read(port, library, 4, UNKNOWN)), "not known");
        Files.writeString(device.resolve("parent"), "bond1\n");
        assertEquals(List.of(true, false, true, true), stacked(read(port, library, 4, UNKNOWN)), "of rxe");
        Path own = Files.createDirectories(device.resolve("device/net/eth0"));
        assertEquals(List.of(true, true, false, true), stacked(read(port, library, 4, UNKNOWN)));
        Files.createSymbolicLink(own.resolve("master"), Path.of("../../../../virtual/net/bond1"));
        assertEquals(List.of(true, false, false, true), stacked(read(port, library, 4, UNKNOWN)));
    }

    private static List<Boolean> stacked(List<GidEntry> entries) {
        return entries.stream().map(GidEntry::stacked).toList();
    }

    /** Several interfaces may have one link-local address: the scope tells them apart. */
    @Test
    void theScopeOfAnAddressIsAnInterface() {
        GidTable table = ethernet("""
                1 fe80::1 v2 eth0
                4 fe80::1 v1 eth0.100
                5 fe80::1 v2 eth0.100
                """);
        assertEquals(5, table.candidates("fe80::1%eth0.100").getFirst().index());
        assertEquals(1, table.candidates("fe80::1").getFirst().index());
        assertThrows(VerbsException.class, () -> table.candidates("fe80::1%eth9"));
    }
}
