package io.farheap.verbs;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.testing.Need;
import io.farheap.testing.Needs;
import io.farheap.testing.SoftRoce;
import io.farheap.testing.TestDevice;
import io.farheap.verbs.binding.ibv_qp_attr;
import io.farheap.verbs.binding.ibverbs;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** A queue pair has the port, the GID and the settings that its device was opened with. */
class AddressTest {

    @AfterEach
    void forget() {
        System.clearProperty("farheap.gid");
    }

    /** The device of clients, by its name. */
    private static String device() {
        try (Context context = Devices.open(TestDevice.client())) {
            return context.device().name();
        }
    }

    private static String refusal(PortOptions port) {
        return assertThrows(VerbsException.class, () -> {
                    try (Context context = Devices.open(port)) {
                        context.checkAddress();
                    }
                })
                .getMessage();
    }

    @Test
    void aPortIsChosenByItsNumber() {
        String device = device();
        try (Context context = Devices.open(device + ":1")) {
            assertEquals(1, context.requireActivePort().number());
            assertEquals(device, context.device().name());
            assertTrue(context.label().startsWith(device), context.label());
        }
        assertEquals(
                "device " + device + " has no port 7; choose one of ports 1 to 1",
                refusal(PortOptions.of(device + ":7")));
    }

    @Test
    void thePropertyChoosesTheEntry() {
        String device = device();
        System.setProperty("farheap.gid", "0");
        try (Context context = Devices.open(device)) {
            GidEntry first = context.candidates(context.requireActivePort()).getFirst();
            assertEquals(0, first.index());
            assertArrayEquals(context.gid(1, 0), first.bytes());
        }
        for (String none : List.of("255", "1000", "-1", "x")) {
            System.setProperty("farheap.gid", none);
            String said = refusal(PortOptions.of(device));
            assertTrue(said.startsWith(none + " names no GID of port 1 of " + device + ", which has GID 0 "), said);
        }
    }

    @Test
    void everyEntryIsListedAndOneIsPreferred() {
        try (Context context = Devices.open(TestDevice.client())) {
            List<String> gids = context.gids(context.requireActivePort());
            assertTrue(gids.getFirst().startsWith("GID 0 "), gids::toString);
            assertEquals(
                    1,
                    gids.stream().filter(gid -> gid.endsWith(Context.PREFERRED)).count(),
                    gids::toString);
        }
        try (Context context = Devices.open(PortOptions.of(TestDevice.client()).gid("1"))) {
            List<String> gids = context.gids(context.requireActivePort());
            assertTrue(gids.get(1).endsWith(Context.PREFERRED), gids::toString);
        }
    }

    @Test
    void aPairConnectsByAnEntryThatWasChosen() throws Exception {
        System.setProperty("farheap.gid", "0");
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

    @Test
    void aPartitionThatThePortIsNotInIsRefused() {
        String said = refusal(PortOptions.of(device()).partitionKey(0x8123));
        assertTrue(said.startsWith("partition key 0x8123 is not in the table of port 1 of "), said);
    }

    @Test
    void aQueuePairHasTheSettings() {
        PortOptions port = PortOptions.of(TestDevice.client())
                .serviceLevel(3)
                .trafficClass(106)
                .partitionKey(0xFFFF)
                .ackTimeout(16)
                .retries(2);
        try (Context context = Devices.open(port);
                ProtectionDomain domain = context.allocateProtectionDomain();
                CompletionQueue completions = context.createCompletionQueue(4, 1, null);
                QueuePair peer = domain.createQueuePair(completions, 1, 0);
                QueuePair queuePair = domain.createQueuePair(completions, 1, 0)) {
            queuePair.connect(peer.endpoint());
            assertEquals(16, States.query(queuePair, ibverbs.IBV_QP_TIMEOUT, ibv_qp_attr::timeout));
            assertEquals(2, States.query(queuePair, ibverbs.IBV_QP_RETRY_CNT, ibv_qp_attr::retry_cnt));
            if (context.library() == VerbsLibrary.SOFT) {
                assertEquals(3, States.query(queuePair, ibverbs.IBV_QP_AV, attr -> attr.ah_attr()
                        .sl()));
            } else if (context.requireActivePort().needsGid()) {
                assertEquals(106, States.query(queuePair, ibverbs.IBV_QP_AV, attr -> attr.ah_attr()
                        .grh()
                        .traffic_class()));
            }
        }
    }

    /** On Ethernet each connection has a global route, of which the traffic class is a part. */
    @Test
    @Needs(Need.SOFTVERBS)
    @ExtendWith(SoftRoce.class)
    void anAddressHasTheTrafficClassOnEthernet() {
        PortOptions port = PortOptions.of(TestDevice.client()).trafficClass(106).serviceLevel(5);
        try (Context context = Devices.open(port);
                ProtectionDomain domain = context.allocateProtectionDomain();
                CompletionQueue completions = context.createCompletionQueue(4, 1, null);
                QueuePair peer = domain.createQueuePair(completions, 1, 0);
                QueuePair queuePair = domain.createQueuePair(completions, 1, 0)) {
            queuePair.connect(peer.endpoint());
            assertEquals(
                    106,
                    States.query(
                            queuePair,
                            ibverbs.IBV_QP_AV,
                            attr -> attr.ah_attr().grh().traffic_class() & 0xFF));
            assertEquals(5, States.query(queuePair, ibverbs.IBV_QP_AV, attr -> attr.ah_attr()
                    .sl()));
        }
    }

    /** softverbs is InfiniBand, so it offers one entry, and the answer names no choice. */
    @Test
    @Needs(Need.SOFTVERBS)
    void infinibandTellsItsFirstEntry() throws Exception {
        try (ConnectedPair pair = ConnectedPair.connect(4096)) {
            Endpoint end = pair.client.queuePair.endpoint();
            assertEquals(GidEntry.ENCODED_BYTES, end.gids().length);
            assertEquals(0, end.peerGid().length);
        }
    }
}
