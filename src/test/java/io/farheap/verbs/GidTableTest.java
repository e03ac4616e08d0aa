package io.farheap.verbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InterfaceAddress;
import java.net.NetworkInterface;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
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
        List<GidEntry> told = ethernet(many).candidates("");
        assertEquals(GidEntry.MOST_TOLD, told.size());
        assertEquals(150, told.getFirst().index());
        assertEquals(0, told.get(1).index());
    }

    /** An entry of the test's port: its GID, and its type as the library returns it. */
    private record Library(List<String> addresses, int type) implements GidTable.Source {

        @Override
        public byte[] gid(int index) {
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
                GidEntry.list(GidTable.read(port, true, 2, old)));
        Path attributes = port.resolve("gid_attrs");
        Files.createDirectories(attributes.resolve("types"));
        Files.createDirectories(attributes.resolve("ndevs"));
        for (int index : new int[] {0, 1, 3, 4}) {
            Files.writeString(attributes.resolve("types/" + index), index == 0 ? "IB/RoCE v1\n" : "RoCE v2\n");
            Files.writeString(attributes.resolve("ndevs/" + index), index == 3 ? "\n" : "eth7\n");
        }
        GidTable table = new GidTable("port 1 of mlx5_0", true, GidTable.read(port, true, 6, old));
        assertEquals(
                "GID 0 fe80:0:0:0:0:0:0:1 (RoCEv1, eth7), GID 1 fe80:0:0:0:0:0:0:1 (RoCEv2, eth7), "
                        + "GID 3 10.0.0.5 (RoCEv2, no interface), GID 4 10.0.0.6 (RoCEv2, eth7), "
                        + "GID 5 10.0.0.7 (type unknown, no interface)",
                GidEntry.list(table.entries()));
        assertEquals(4, table.candidates("").getFirst().index());
        assertEquals(
                GidEntry.INFINIBAND,
                GidTable.read(port, false, 1, old).getFirst().type());
    }

    @Test
    void theLengthOfTheNetworkIsTheInterfaces(@TempDir Path port) throws IOException {
        NetworkInterface loopback = NetworkInterface.getByName("lo");
        InterfaceAddress own = loopback == null
                ? null
                : loopback.getInterfaceAddresses().stream()
                        .filter(address -> address.getAddress().getAddress().length == 4)
                        .findFirst()
                        .orElse(null);
        if (own == null) {
            return;
        }
        Files.createDirectories(port.resolve("gid_attrs/ndevs"));
        Files.writeString(port.resolve("gid_attrs/ndevs/0"), "lo\n");
        Library library = new Library(List.of(own.getAddress().getHostAddress(), "10.255.3.4"), GidEntry.ROCE_V2);
        List<GidEntry> entries = GidTable.read(port, true, 2, library);
        assertEquals(96 + own.getNetworkPrefixLength(), entries.get(0).networkBits());
        assertEquals(0, entries.get(1).networkBits());
    }
}
