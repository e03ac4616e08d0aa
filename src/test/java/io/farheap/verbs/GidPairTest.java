package io.farheap.verbs;

import static io.farheap.verbs.GidEntries.candidates;
import static io.farheap.verbs.GidEntries.endpoint;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Both ends of a connection use one pair of GIDs, the best that both have. */
class GidPairTest {

    private static final String IPV6_ALONE = """
            0 fe80::1 v1 eth0
            1 fe80::1 v2 eth0
            2 2001:db8:1::1 v1 eth0
            3 2001:db8:1::1 v2 eth0
            """;
    private static final String BOTH = """
            0 fe80::2 v1 eth0
            1 fe80::2 v2 eth0
            2 10.0.0.2 v1 eth0
            3 10.0.0.2 v2 eth0
            4 2001:db8:1::2 v1 eth0
            5 2001:db8:1::2 v2 eth0
            """;
    private static final String IPV4_ALONE = """
            2 10.0.0.3 v1 eth0
            3 10.0.0.3 v2 eth0
            """;

    /** The indices that the client and the server use, after a request and an answer. */
    private static List<Integer> connect(String client, String server) {
        List<GidEntry> ofClient = candidates(client);
        List<GidEntry> ofServer = candidates(server);
        GidPair atServer = GidPair.onEthernet(ofServer, false, endpoint(GidEntry.offered(ofClient)));
        GidPair atClient = GidPair.onEthernet(ofClient, true, endpoint(GidEntry.offered(ofServer), atServer));
        assertAgree(atClient, atServer);
        return List.of(atClient.own().index(), atServer.own().index());
    }

    /** Two ends of one table agree about the interface, too, of which a peer learns nothing. */
    private static void assertSameInterface(String table) {
        List<GidEntry> own = candidates(table);
        GidPair server = GidPair.onEthernet(own, false, endpoint(own));
        GidPair client = GidPair.onEthernet(own, true, endpoint(own, server));
        assertEquals(server.own().netInterface(), client.own().netInterface(), table);
    }

    private static void assertAgree(GidPair one, GidPair other) {
        assertArrayEquals(one.own().bytes(), other.peer().bytes());
        assertArrayEquals(one.peer().bytes(), other.own().bytes());
        assertEquals(one.own().type(), other.own().type());
    }

    @Test
    void theBestPairOfOneFamilyIsTaken() {
        assertEquals(List.of(3, 5), connect(IPV6_ALONE, BOTH));
        assertEquals(List.of(5, 3), connect(BOTH, IPV6_ALONE));
        assertEquals(List.of(3, 3), connect(BOTH, IPV4_ALONE));
        assertEquals(List.of(3, 3), connect(BOTH, BOTH));
        assertEquals(List.of(3, 3), connect(IPV6_ALONE, IPV6_ALONE));
    }

    @Test
    void aRoutedFamilyComesBeforeLinkLocalAddresses() {
        String linkIpv4 = "1 fe80::9 v2 eth0\n2 169.254.3.4 v2 eth0\n3 2001:db8::9 v2 eth0";
        assertEquals(List.of(3, 5), connect(linkIpv4, BOTH), "the IPv4 address of one end is link-local");
        assertEquals(List.of(2, 2), connect("2 169.254.3.4 v2 eth0\n3 fe80::4 v2 eth0", linkIpv4));
        assertEquals(List.of(1, 1), connect("1 fe80::7 v2 eth0", linkIpv4), "link-local with link-local");
    }

    /** One link may join an address of it alone with one that routes, so it is better than nothing. */
    @Test
    void addressesOfDifferentReachAreTheLastOfRoceV2() {
        assertEquals(List.of(1, 3), connect("1 fe80::7 v2 eth0", "3 2001:db8::9 v2 eth0"));
        assertEquals(
                List.of(1, 3),
                connect("0 10.0.0.7 v1 eth0\n1 fe80::7 v2 eth0", "2 10.0.0.9 v1 eth0\n3 fd00::9 v2 eth0"));
    }

    @Test
    void bothEndsUseOneVersionOfRoce() {
        assertEquals(List.of(0, 2), connect("0 10.0.0.7 v1 eth0\n1 fe80::7 v2 eth0", IPV4_ALONE));
    }

    /** A port of two VLANs reaches a peer on the second by that one. */
    @Test
    void aPairInOneNetworkIsPreferred() {
        String vlans = "1 10.1.0.5/24 v2 eth0.1\n2 10.2.0.5/24 v2 eth0.2";
        assertEquals(List.of(1, 2), connect("1 10.2.0.7/24 v2 eth0.2", vlans));
        assertEquals(List.of(2, 1), connect(vlans, "1 10.2.0.7/24 v2 eth0.2"));
        assertEquals(List.of(1, 1), connect(vlans, "1 10.3.0.7/24 v2 eth0.3"), "routed");
        assertEquals(List.of(1, 2), connect("1 10.2.0.7 v2 eth0.2", vlans), "the other end alone knows the length");
        assertEquals(List.of(1, 1), connect("1 10.2.0.7 v2 eth0.2", vlans.replace("/24", "")), "no end knows it");
        String mirrored = "1 10.2.0.6/24 v2 eth0.2\n2 10.1.0.6/24 v2 eth0.1";
        assertEquals(connect(vlans, mirrored), connect(mirrored, vlans).reversed());
    }

    @Test
    void twoEndsOfEqualMachinesAreOnOneInterface() {
        assertSameInterface("1 fe80::1 v2 eth0\n5 fe80::1 v2 eth0.100 stacked");
        assertSameInterface("1 fe80::1 v2 eth0.100 stacked\n5 fe80::1 v2 eth0");
        assertEquals(
                List.of(5, 1),
                connect(
                        "1 fe80::1 v2 eth0.100 stacked\n5 fe80::1 v2 eth0",
                        "1 fe80::2 v2 eth0\n2 fe80::2 v2 eth0.7 stacked"),
                "both are untagged, in whatever order");
        assertEquals(
                1,
                candidates("1 fe80::1 v2 eth0\n5 fe80::1 v2 eth0.100 stacked").size(),
                "a peer learns it once");
    }

    /** A port of many VLANs, each of a network of its own; the index is the VLAN's number. */
    private static String vlans(int count, String version) {
        return IntStream.range(0, count)
                .mapToObj(i -> i + " 10.1." + i + ".5/24 " + version + " eth0." + i)
                .collect(Collectors.joining("\n"));
    }

    /** A peer receives no more than 32 entries, and the end that chooses has all. */
    @Test
    void aPairIsFoundInATableThatIsLongerThanAMessage() {
        assertEquals(List.of(1, 39), connect("1 10.1.39.7/24 v2 eth0", vlans(40, "v2")), "in one network");
        String mixed = vlans(40, "v2") + "\n50 2001:db8:1::5 v2 eth0\n51 fe80::5 v2 eth0";
        assertEquals(List.of(3, 50), connect(IPV6_ALONE, mixed));
        assertEquals(List.of(50, 3), connect(mixed, IPV6_ALONE));
        assertEquals(List.of(51, 1), connect(mixed, "1 fe80::7 v2 eth0"));
    }

    /** Two ends of long tables that choose without an answer know the same entries. */
    @Test
    void longTablesAgreeWithoutAnAnswer() {
        List<GidEntry> one = candidates(vlans(40, "v2"));
        List<GidEntry> other = candidates("1 10.1.39.7/24 v2 eth0");
        GidPair here = GidPair.onEthernet(one, true, endpoint(other));
        GidPair there = GidPair.onEthernet(other, true, endpoint(GidEntry.offered(one)));
        assertAgree(here, there);
    }

    @Test
    void theErrorSaysHowManyWereOffered() {
        List<GidEntry> many = candidates(vlans(40, "v2"));
        String said = assertThrows(
                        VerbsException.class,
                        () -> GidPair.onEthernet(many, true, endpoint(candidates("1 fe80::7 v2 eth0"))))
                .getMessage();
        assertTrue(said.contains(" and 32 more, of which it has offered 32, is of the same type"), said);
        List<GidEntry> mixed = candidates(vlans(40, "v2") + "\n50 2001:db8:1::5 v2 eth0");
        assertTrue(GidEntry.list(mixed).contains("2001:db8:1:0:0:0:0:5"), "each family is named");
    }

    @Test
    void noPairIsOneSentenceWithBothLists() {
        String said = assertThrows(VerbsException.class, () -> connect("1 fe80::7 v2 eth0", IPV4_ALONE))
                .getMessage();
        assertEquals(
                "cannot reach QP 5 (LID 0, GID fe80:0:0:0:0:0:0:7): no GID of this end, which has GID 3 10.0.0.3 (RoCEv2, "
                        + "eth0), GID 2 10.0.0.3 (RoCEv1, eth0), is of the same type and address family as one of that "
                        + "end, which has fe80:0:0:0:0:0:0:7 (RoCEv2); give both ports an IPv4 address, or both an IPv6 "
                        + "address, or choose other GIDs",
                said);
        assertNull(GidPair.best(candidates("1 10.0.0.7 v2 eth0"), candidates("2 10.0.0.9 v1 eth0")));
    }

    /** Whatever the tables, both ends find the same pair, by an answer and without one. */
    @Test
    void bothEndsAgreeOnEveryPairOfTables() {
        SplittableRandom random = new SplittableRandom(53);
        int none = 0;
        for (int round = 0; round < 2_000; round++) {
            List<GidEntry> one = candidates(table(random));
            List<GidEntry> other = candidates(table(random));
            GidPair here = GidPair.best(one, GidEntry.decode(GidEntry.encode(other)));
            GidPair there = GidPair.best(other, GidEntry.decode(GidEntry.encode(one)));
            if (here == null || there == null) {
                assertEquals(here, there);
                none++;
                continue;
            }
            assertAgree(here, there);
            assertAgree(GidPair.onEthernet(other, true, endpoint(one, here)), here);
        }
        assertTrue(none > 10 && none < 1_000, none + " pairs of tables without a pair");
    }

    /** Few addresses, so that both ends often have the same one, and as one host does, in another order. */
    private static String table(SplittableRandom random) {
        List<String> addresses = List.of(
                "fe80::1/64",
                "fe80::2/64",
                "169.254.0.1/16",
                "10.1.0.1/24",
                "10.1.0.2/24",
                "10.2.0.1/24",
                "fd00::1/48",
                "fd00::2");
        List<String> lines = new ArrayList<>();
        int count = 1 + random.nextInt(5);
        for (int index = 0; index < count; index++) {
            lines.add(index + " " + addresses.get(random.nextInt(addresses.size()))
                    + (random.nextInt(4) == 0 ? " v1" : " v2") + " eth0");
        }
        return String.join("\n", lines);
    }

    private static Endpoint older(String address) {
        return new Endpoint(5, 0, 0, GidEntries.gid(address), 5, 1, 1);
    }

    /** An older client sends one GID, and this end takes its best of that family; the answer has it as before. */
    @Test
    void anOlderClientIsMetInItsFamily() {
        assertEquals(
                3,
                GidPair.onEthernet(candidates(BOTH), false, older("10.0.0.9"))
                        .own()
                        .index());
        assertEquals(
                5,
                GidPair.onEthernet(candidates(BOTH), false, older("2001:db8::9"))
                        .own()
                        .index());
        assertEquals(
                1,
                GidPair.onEthernet(candidates(BOTH), false, older("fe80::9"))
                        .own()
                        .index());
        assertThrows(VerbsException.class, () -> GidPair.onEthernet(candidates(IPV6_ALONE), false, older("10.0.0.9")));
    }

    /** An older server sends to the first GID that it received, and knows no other. */
    @Test
    void anOlderServerSendsToTheFirst() {
        assertEquals(
                3,
                GidPair.onEthernet(candidates(BOTH), true, older("10.0.0.9"))
                        .own()
                        .index());
        assertThrows(VerbsException.class, () -> GidPair.onEthernet(candidates(BOTH), true, older("2001:db8::9")));
    }

    /** A peer that sends to an address which this end has not offered gets nothing. */
    @Test
    void anAnswerNamesOneOfTheEntries() {
        List<GidEntry> own = candidates(IPV6_ALONE);
        GidEntry foreign = GidEntry.ofPeer(GidEntry.ROCE_V2, GidEntries.gid("10.0.0.66"));
        Endpoint answer = endpoint(GidEntries.gid("10.0.0.9"), new byte[0], GidEntry.encode(List.of(foreign)));
        String said = assertThrows(VerbsException.class, () -> GidPair.onEthernet(own, true, answer))
                .getMessage();
        assertTrue(said.contains("it sends to 10.0.0.66 (RoCEv2), and this end has GID 3 2001:db8:1:0:0:0:0:1"), said);
        byte[] newer = GidEntry.encode(List.of(foreign));
        newer[0] = 7;
        assertThrows(
                VerbsException.class,
                () -> GidPair.onEthernet(own, true, endpoint(GidEntries.gid("10.0.0.9"), new byte[0], newer)));
    }

    /** A request that already has a choice does not choose for the end that answers. */
    @Test
    void aRequestChoosesNothing() {
        List<GidEntry> client = candidates(BOTH);
        List<GidEntry> server = candidates(BOTH.replace("::2", "::4").replace("10.0.0.2", "10.0.0.4"));
        GidEntry linkLocal =
                server.stream().filter(GidEntry::isLinkLocal).findFirst().orElseThrow();
        Endpoint request =
                endpoint(GidEntries.gid("fe80::2"), GidEntry.encode(client), GidEntry.encode(List.of(linkLocal)));
        assertEquals(3, GidPair.onEthernet(server, false, request).own().index());
        Endpoint older = endpoint(GidEntries.gid("10.0.0.2"), new byte[0], GidEntry.encode(List.of(linkLocal)));
        assertEquals(3, GidPair.onEthernet(server, false, older).own().index());
    }

    @Test
    void anAnswerWithoutAnAddressOfTheFamilyIsRefused() {
        List<GidEntry> own = candidates(BOTH);
        byte[] choice = GidEntry.encode(own.subList(0, 1));
        for (String wrong : List.of("::", "ff02::1", "fe80::9", "224.0.0.1", "0.0.0.0")) {
            Endpoint answer = endpoint(GidEntries.gid(wrong), GidEntry.encode(own), choice);
            String said = assertThrows(VerbsException.class, () -> GidPair.onEthernet(own, true, answer))
                    .getMessage();
            assertTrue(
                    said.endsWith(": it sends to GID 3 10.0.0.2 (RoCEv2, eth0), and its own GID is no address of that "
                            + "family; run the same version at both ends"),
                    said);
        }
        assertEquals(
                3,
                GidPair.onEthernet(own, true, endpoint(GidEntries.gid("10.0.0.9"), new byte[0], choice))
                        .own()
                        .index());
    }

    /** What nothing can be sent to is no choice, of an older peer neither. */
    @Test
    void aListOfNoDestinationsIsNoPair() {
        List<GidEntry> own = candidates(IPV6_ALONE);
        List<GidEntry> none = List.of(
                GidEntry.ofPeer(GidEntry.ROCE_V2, GidEntries.gid("::")),
                GidEntry.ofPeer(GidEntry.ROCE_V2, GidEntries.gid("ff02::1")));
        for (Endpoint peer : List.of(endpoint(none), older("::"), older("ff02::1"))) {
            String said = assertThrows(VerbsException.class, () -> GidPair.onEthernet(own, false, peer))
                    .getMessage();
            assertTrue(said.contains("as one of that end, which has no GID; give"), said);
        }
    }

    private static List<GidEntry> infiniband(String address) {
        return List.of(new GidEntry(0, GidEntry.INFINIBAND, 0, null, GidEntries.gid(address)));
    }

    @Test
    void aPeerInTheSameInfinibandSubnetIsReached() {
        assertDoesNotThrow(() -> GidPair.onInfiniband(infiniband("fe80::1"), older("fe80::2")));
        assertDoesNotThrow(() -> GidPair.onInfiniband(infiniband("fe80::1"), endpoint(infiniband("fe80::2"))));
    }

    @Test
    void anotherInfinibandSubnetIsRefused() {
        assertEquals(
                "cannot reach QP 5 (LID 0, GID fec0:0:0:0:0:0:0:2) from GID 0 fe80:0:0:0:0:0:0:1 (InfiniBand): they are in "
                        + "different InfiniBand subnets; connect machines of one subnet",
                assertThrows(VerbsException.class, () -> GidPair.onInfiniband(infiniband("fe80::1"), older("fec0::2")))
                        .getMessage());
    }

    @Test
    void infinibandDoesNotReachEthernet() {
        assertThrows(
                VerbsException.class,
                () -> GidPair.onInfiniband(infiniband("fe80::1"), endpoint(candidates(IPV6_ALONE))));
        assertThrows(
                VerbsException.class,
                () -> GidPair.onEthernet(candidates(IPV6_ALONE), false, endpoint(infiniband("fe80::1"))));
    }
}
