package io.farheap.verbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Of the entries of an Ethernet port's table, an address that routes is chosen before one of its link alone. */
class GidRankTest {

    private static final String IPV4 = "00000000000000000000ffff0a080001";
    private static final String LINK_IPV4 = "00000000000000000000ffffa9fe0001";
    private static final String GLOBAL = "20010db8000000000000000000000001";
    private static final String UNIQUE_LOCAL = "fd000000000000000000000000000001";
    private static final String LINK_LOCAL = "fe800000000000000000000000000001";
    private static final String LAST_LINK_LOCAL = "febf0000000000000000000000000001";

    private static int rank(int type, String gid) {
        return new GidEntry(0, type, 0, "eth0", HexFormat.of().parseHex(gid)).rank();
    }

    @Test
    void anAddressThatRoutesIsBetter() {
        List<Integer> best = List.of(
                rank(GidEntry.ROCE_V2, IPV4),
                rank(GidEntry.ROCE_V2, GLOBAL),
                rank(GidEntry.ROCE_V2, LINK_IPV4),
                rank(GidEntry.ROCE_V2, LINK_LOCAL),
                rank(GidEntry.ROCE_V1, IPV4),
                rank(GidEntry.ROCE_V1, LINK_LOCAL));
        for (int i = 1; i < best.size(); i++) {
            assertTrue(best.get(i - 1) > best.get(i), best::toString);
        }
        assertTrue(rank(GidEntry.ROCE_V2, UNIQUE_LOCAL) > rank(GidEntry.ROCE_V2, LAST_LINK_LOCAL));
    }

    @Test
    void equalBitsAreCounted() {
        GidEntry entry = GidEntry.ofPeer(GidEntry.ROCE_V2, GidEntries.gid("10.1.0.5"));
        assertEquals(128, entry.commonBits(entry));
        assertEquals(127, entry.commonBits(GidEntry.ofPeer(GidEntry.ROCE_V2, GidEntries.gid("10.1.0.4"))));
        assertEquals(96 + 14, entry.commonBits(GidEntry.ofPeer(GidEntry.ROCE_V2, GidEntries.gid("10.2.0.5"))));
        assertEquals(0, entry.commonBits(GidEntry.ofPeer(GidEntry.ROCE_V2, GidEntries.gid("fe80::1"))));
    }

    @Test
    void nothingIsSentToZeroOrToAGroup() {
        for (String none : List.of("::", "0.0.0.0", "0.0.0.1", "224.0.0.1", "255.255.255.255", "ff02::1")) {
            assertFalse(GidEntry.ofPeer(GidEntry.ROCE_V2, GidEntries.gid(none)).isDestination(), none);
        }
        for (String one : List.of("127.0.0.1", "10.0.0.5", "223.1.2.3", "fe80::1", "fd00::1", "2001:db8::1")) {
            assertTrue(GidEntry.ofPeer(GidEntry.ROCE_V2, GidEntries.gid(one)).isDestination(), one);
        }
    }

    /** A peer reads the entries that it is offered, and leaves out those whose type only newer processes know. */
    @Test
    void entriesTravel() {
        List<GidEntry> offered = GidEntries.table("""
                0 fe80::1/64 v1 eth0
                7 10.1.0.5/24 v2 eth0
                """);
        byte[] encoded = GidEntry.encode(offered);
        List<GidEntry> heard = GidEntry.decode(encoded);
        assertEquals("fe80:0:0:0:0:0:0:1 (RoCEv1), 10.1.0.5 (RoCEv2)", GidEntry.list(heard));
        assertEquals(List.of(64, 120), heard.stream().map(GidEntry::networkBits).toList());
        encoded[0] = 9;
        assertEquals("10.1.0.5 (RoCEv2)", GidEntry.list(GidEntry.decode(encoded)));
    }
}
