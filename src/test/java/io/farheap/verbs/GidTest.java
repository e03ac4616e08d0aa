package io.farheap.verbs;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.testing.TestDevice;
import java.util.HexFormat;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class GidTest {

    private static final PortInfo INFINIBAND = new PortInfo(1, true, 5, 1 << 30, 7, false, false, 1);
    private static final PortInfo ETHERNET = new PortInfo(1, true, 5, 1 << 30, 0, true, true, 16);

    private static final String IPV4 = "00000000000000000000ffff0a080001";
    private static final String OTHER_IPV4 = "00000000000000000000ffff0a080002";
    private static final String LINK_LOCAL = "fe800000000000000000000000000001";
    private static final String OTHER_LINK_LOCAL = "fe800000000000000000000000000002";
    private static final String OTHER_SUBNET = "fec00000000000000000000000000002";

    @AfterEach
    void forget() {
        System.clearProperty(Gid.PROPERTY);
    }

    @Test
    void aPeerInTheSameNetworkIsReached() {
        assertDoesNotThrow(() -> gid(LINK_LOCAL).checkReaches(endpoint(OTHER_LINK_LOCAL), INFINIBAND));
        assertDoesNotThrow(() -> gid(LINK_LOCAL).checkReaches(endpoint(OTHER_LINK_LOCAL), ETHERNET));
        assertDoesNotThrow(() -> gid(IPV4).checkReaches(endpoint(OTHER_IPV4), ETHERNET));
        assertDoesNotThrow(() -> gid(LINK_LOCAL).checkReaches(endpoint(OTHER_SUBNET), ETHERNET));
    }

    @Test
    void anotherInfinibandSubnetIsRefused() {
        String message = assertThrows(
                        VerbsException.class, () -> gid(LINK_LOCAL).checkReaches(endpoint(OTHER_SUBNET), INFINIBAND))
                .getMessage();
        assertEquals(
                "cannot reach QP 5 (LID 0, GID " + OTHER_SUBNET + ") from GID " + LINK_LOCAL
                        + ": they are in different InfiniBand subnets; connect machines of one subnet",
                message);
    }

    @Test
    void ipv4DoesNotReachAnythingElse() {
        for (String[] pair : new String[][] {{IPV4, LINK_LOCAL}, {LINK_LOCAL, IPV4}}) {
            String message = assertThrows(
                            VerbsException.class, () -> gid(pair[0]).checkReaches(endpoint(pair[1]), ETHERNET))
                    .getMessage();
            assertTrue(message.contains("give both ports an IPv4 address"), message);
        }
    }

    @Test
    void thePropertyChoosesTheEntry() throws Exception {
        try (ConnectedPair pair = ConnectedPair.connect(4096)) {
            Context context = pair.client.context;
            PortInfo port = context.activePort();
            System.setProperty(Gid.PROPERTY, "0");
            assertArrayEquals(
                    context.gid(port.number(), 0), Gid.choose(context, port).bytes());
            for (String none : new String[] {"255", "1000", "-1", "x", ""}) {
                System.setProperty(Gid.PROPERTY, none);
                String message = assertThrows(VerbsException.class, () -> Gid.choose(context, port))
                        .getMessage();
                assertTrue(
                        message.startsWith("farheap.gid=" + none + " names no GID of port 1 of "
                                + context.device().name()),
                        message);
            }
        }
    }

    @Test
    void aPairConnectsByAnEntryThatWasChosen() throws Exception {
        System.setProperty(Gid.PROPERTY, "0");
        String device = TestDevice.client();
        try (ConnectedPair pair = ConnectedPair.connect(device, device, 4096)) {
            assertArrayEquals(
                    pair.client.context.gid(1, 0),
                    pair.client.queuePair.endpoint().gid());
            pair.prepare(0, SendRequests.WRITE, SendRequests.SIGNALED, 0, 8, 0);
            assertEquals(0, pair.post(0));
            assertEquals(WcStatus.SUCCESS, pair.await(0));
        }
    }

    private static Gid gid(String hex) {
        return new Gid(0, HexFormat.of().parseHex(hex));
    }

    private static Endpoint endpoint(String gid) {
        return new Endpoint(5, 0, 0, HexFormat.of().parseHex(gid), 5, 1, 1);
    }
}
