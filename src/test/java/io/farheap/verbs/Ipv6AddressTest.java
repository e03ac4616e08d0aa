package io.farheap.verbs;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.farheap.testing.Need;
import io.farheap.testing.Needs;
import io.farheap.testing.Shell;
import io.farheap.testing.TestDevice;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** On the kernel's device, connections use the addresses that its interface has: IPv6 alone is enough. */
@Needs({Need.GUEST, Need.SYSTEM})
class Ipv6AddressTest {

    private static final String GLOBAL = "2001:db8:53::1";

    private final String device = TestDevice.client();
    private String netInterface;
    private String ipv4;

    @BeforeEach
    void find() {
        netInterface = Shell.run("cat /sys/class/infiniband/" + device + "/ports/1/gid_attrs/ndevs/0")
                .strip();
        ipv4 = Shell.run("ip -4 -o addr show dev " + netInterface + " | awk '{print $4}'")
                .strip();
        Shell.run("echo 0 > /proc/sys/net/ipv6/conf/" + netInterface + "/disable_ipv6; ip -6 addr add " + GLOBAL
                + "/64 dev " + netInterface + " nodad");
        awaitGids("2001:0db8:0053:", true);
    }

    @AfterEach
    void restore() {
        Shell.run("ip -6 addr del " + GLOBAL + "/64 dev " + netInterface + "; ip addr replace " + ipv4 + " dev "
                + netInterface);
        awaitGids("2001:0db8:0053:", false);
        awaitGids("0000:0000:0000:0000:0000:ffff:", true);
    }

    /** The kernel changes the table some time after the addresses. */
    private void awaitGids(String prefix, boolean there) {
        Shell.run("for i in $(seq 300); do " + (there ? "" : "! ") + "grep -qs ^" + prefix + " /sys/class/infiniband/"
                + device + "/ports/1/gids/* && exit 0; sleep 0.1; done; exit 1");
    }

    private void withoutIpv4() {
        Shell.run("ip addr del " + ipv4 + " dev " + netInterface);
        awaitGids("0000:0000:0000:0000:0000:ffff:", false);
    }

    @Test
    void ipv6AloneIsEnough() throws Exception {
        withoutIpv4();
        try (ConnectedPair pair = ConnectedPair.connect(device, device, 4096)) {
            assertArrayEquals(
                    GidEntries.gid(GLOBAL), pair.client.queuePair.endpoint().gid());
            writes(pair);
        }
    }

    private static void writes(ConnectedPair pair) {
        pair.prepare(0, SendRequests.WRITE, SendRequests.SIGNALED, 0, 8, 0);
        assertEquals(0, pair.post(0));
        assertEquals(WcStatus.SUCCESS, pair.await(0));
    }
}
