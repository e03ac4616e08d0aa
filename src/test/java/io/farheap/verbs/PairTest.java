package io.farheap.verbs;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.testing.Need;
import io.farheap.testing.Needs;
import io.farheap.testing.TestDevice;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

/** Queue pairs of the clients' and the servers' device: one device on a single host, two if there are two. */
class PairTest {

    private static final int BYTES = 1 << 20;

    @Test
    void everySizeArrives() throws Exception {
        try (ConnectedPair pair = ConnectedPair.connect(BYTES)) {
            roundTrips(pair);
        }
    }

    @Test
    void moreRequestsThanFitAreRefusedOrDoneAndGoOn() throws Exception {
        try (ConnectedPair pair = ConnectedPair.connect(BYTES)) {
            int posted = 0;
            while (posted < 4 * ConnectedPair.DEPTH) {
                pair.prepare(posted, SendRequests.READ, SendRequests.SIGNALED, 0, 8, 0);
                if (pair.post(posted) != 0) {
                    break;
                }
                posted++;
            }
            // The kernel makes room while it executes; softverbs only when completions are polled.
            assertTrue(posted >= ConnectedPair.DEPTH, posted + " posted");
            for (int i = 0; i < posted; ) {
                int polled = pair.client.completions.poll();
                for (int j = 0; j < polled; j++, i++) {
                    assertEquals(i, pair.client.completions.id(j));
                    assertEquals(WcStatus.SUCCESS, pair.client.completions.status(j));
                }
            }
            pair.prepare(0, SendRequests.READ, SendRequests.SIGNALED, 0, 8, 0);
            assertEquals(0, pair.post(0));
            assertEquals(WcStatus.SUCCESS, pair.await(0));
        }
    }

    /** More READs than the other side has room for break the connection on some devices. */
    @Test
    void eachSideReadsNoDeeperThanTheOtherServes() throws Exception {
        try (ConnectedPair pair = ConnectedPair.open(TestDevice.client(), TestDevice.server(), BYTES)) {
            Endpoint client = pair.client.queuePair.endpoint();
            Endpoint server = pair.server.queuePair.endpoint();
            assertTrue(
                    client.initiatorDepth() > 4 && client.responderResources() > 4,
                    "the device can do more than the test allows");
            pair.client.queuePair.connect(withDepths(server, 2, 7));
            pair.server.queuePair.connect(withDepths(client, 7, 2));
            assertEquals(4, States.initiatorDepth(pair.client.queuePair));
            assertEquals(2, States.responderResources(pair.client.queuePair));
            assertEquals(2, States.initiatorDepth(pair.server.queuePair));
            assertEquals(4, States.responderResources(pair.server.queuePair));
            for (int i = 0; i < ConnectedPair.DEPTH; i++) {
                pair.prepare(i, SendRequests.READ, SendRequests.SIGNALED, 0, 65536, 0);
                assertEquals(0, pair.post(i));
            }
            for (int i = 0; i < ConnectedPair.DEPTH; i++) {
                assertEquals(WcStatus.SUCCESS, pair.await(i));
            }
        }
    }

    private static Endpoint withDepths(Endpoint of, int initiatorDepth, int responderResources) {
        return new Endpoint(
                of.queuePairNumber(),
                of.packetSequenceNumber(),
                of.lid(),
                of.gid(),
                of.pathMtu(),
                initiatorDepth,
                responderResources);
    }

    @Test
    @Needs(Need.ATOMICS)
    void atomicsCount() throws Exception {
        try (ConnectedPair pair = ConnectedPair.connect(BYTES)) {
            for (int i = 0; i < 100; i++) {
                pair.requests.prepareAtomic(
                        0,
                        SendRequests.FETCH_AND_ADD,
                        SendRequests.SIGNALED,
                        pair.client.memory.address(),
                        pair.client.memory.localKey(),
                        pair.server.memory.address() + 64,
                        pair.server.memory.remoteKey(),
                        3,
                        0);
                assertEquals(0, pair.post(0));
                assertEquals(WcStatus.SUCCESS, pair.await(0));
                assertEquals(3L * i, pair.client.memory.segment().get(JAVA_LONG, 0));
            }
            assertEquals(300, pair.server.memory.segment().get(JAVA_LONG, 64));
        }
    }

    @Test
    @Needs(Need.TWO_DEVICES)
    void twoDevicesReachEachOtherBothWays() throws Exception {
        for (boolean swapped : new boolean[] {false, true}) {
            String client = swapped ? TestDevice.server() : TestDevice.client();
            String server = swapped ? TestDevice.client() : TestDevice.server();
            try (ConnectedPair pair = ConnectedPair.connect(client, server, BYTES)) {
                assertEquals(client, pair.client.context.device().name());
                assertEquals(server, pair.server.context.device().name());
                Endpoint one = pair.client.queuePair.endpoint();
                Endpoint other = pair.server.queuePair.endpoint();
                assertFalse(Arrays.equals(one.gid(), other.gid()), "two devices have one GID: " + one);
                assertNotEquals(
                        pair.client.context.device().guid(),
                        pair.server.context.device().guid());
                roundTrips(pair);
            }
        }
    }

    /** RoCE addresses by GID: without one that routes, nothing would arrive. */
    @Test
    @Needs(Need.SYSTEM)
    void anEthernetPortIsAddressedByItsIpv4Gid() {
        try (Context context = Devices.open(TestDevice.client())) {
            PortInfo port = context.activePort();
            if (port.ethernet()) {
                GidEntry gid = context.candidates(port).getFirst();
                assertEquals(GidEntry.ROCE_V2, gid.type());
                assertTrue(gid.hasInterface(), gid::toString);
                assertEquals((byte) 0xFF, gid.bytes()[10]);
                assertEquals((byte) 10, gid.bytes()[12], "10.x.x.x, the guest's networks");
            }
        }
    }

    private static void roundTrips(ConnectedPair pair) {
        for (int bytes : new int[] {1, 8, 64, 1000, 4096, 4097, 65536, BYTES}) {
            for (long i = 0; i + 8 <= BYTES; i += 8) {
                pair.client.memory.segment().set(JAVA_LONG, i, i * 31 + bytes);
            }
            pair.prepare(
                    0,
                    SendRequests.WRITE,
                    SendRequests.SIGNALED | (bytes <= 64 ? SendRequests.INLINE : 0),
                    0,
                    bytes,
                    0);
            assertEquals(0, pair.post(0));
            assertEquals(WcStatus.SUCCESS, pair.await(0));
            assertEquals(
                    -1,
                    pair.client
                            .memory
                            .segment()
                            .asSlice(0, bytes)
                            .mismatch(pair.server.memory.segment().asSlice(0, bytes)),
                    bytes + " bytes written");

            pair.client.memory.segment().fill((byte) 0);
            pair.prepare(1, SendRequests.READ, SendRequests.SIGNALED, 0, bytes, 0);
            assertEquals(0, pair.post(1));
            assertEquals(WcStatus.SUCCESS, pair.await(1));
            assertEquals(
                    -1,
                    pair.client
                            .memory
                            .segment()
                            .asSlice(0, bytes)
                            .mismatch(pair.server.memory.segment().asSlice(0, bytes)),
                    bytes + " bytes read");
        }
    }
}
