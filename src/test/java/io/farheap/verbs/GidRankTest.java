package io.farheap.verbs;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Of the entries of an Ethernet port's table, an address that routes is chosen before one of its link alone. */
class GidRankTest {

    private static final int ROCE_V1 = 1;
    private static final int ROCE_V2 = 2;

    private static final String IPV4 = "00000000000000000000ffff0a080001";
    private static final String LINK_IPV4 = "00000000000000000000ffffa9fe0001";
    private static final String GLOBAL = "20010db8000000000000000000000001";
    private static final String UNIQUE_LOCAL = "fd000000000000000000000000000001";
    private static final String LINK_LOCAL = "fe800000000000000000000000000001";
    private static final String LAST_LINK_LOCAL = "febf0000000000000000000000000001";

    private static int rank(int type, String gid) {
        return Gid.rank(type, HexFormat.of().parseHex(gid));
    }

    @Test
    void anAddressThatRoutesIsBetter() {
        List<Integer> best = List.of(
                rank(ROCE_V2, IPV4),
                rank(ROCE_V2, GLOBAL),
                rank(ROCE_V2, LINK_IPV4),
                rank(ROCE_V2, LINK_LOCAL),
                rank(ROCE_V1, IPV4),
                rank(ROCE_V1, LINK_LOCAL));
        for (int i = 1; i < best.size(); i++) {
            assertTrue(best.get(i - 1) > best.get(i), best::toString);
        }
        assertTrue(rank(ROCE_V2, UNIQUE_LOCAL) > rank(ROCE_V2, LAST_LINK_LOCAL));
    }

    @Test
    void anEntryWithoutAnInterfaceIsPassedOver(@TempDir Path port) throws IOException {
        assertTrue(Gid.hasInterface(port, 0), "a device without sysfs");
        Path interfaces = Files.createDirectories(port.resolve("gid_attrs/ndevs"));
        Files.writeString(interfaces.resolve("0"), "eth0\n");
        Files.writeString(interfaces.resolve("1"), "\n");
        assertTrue(Gid.hasInterface(port, 0));
        assertFalse(Gid.hasInterface(port, 1));
        assertFalse(Gid.hasInterface(port, 2));
    }
}
