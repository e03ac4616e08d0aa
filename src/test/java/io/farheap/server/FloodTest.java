package io.farheap.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.control.ControlException;
import io.farheap.control.RegionGrant;
import io.farheap.control.grpc.ControlClient;
import io.farheap.control.grpc.ControlServer;
import io.farheap.control.lease.LeaseKeeper;
import io.farheap.control.plane.Lease;
import io.farheap.control.plane.RingRequest;
import io.farheap.rpc.RingShape;
import io.farheap.server.contract.ServerLimits;
import io.farheap.server.contract.ServerOptions;
import io.farheap.testing.TestDevice;
import io.farheap.thread.idle.Idle;
import io.farheap.verbs.CompletionQueue;
import io.farheap.verbs.Context;
import io.farheap.verbs.Devices;
import io.farheap.verbs.ProtectionDomain;
import io.farheap.verbs.QueuePair;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A client that takes all that it can get leaves room for others, and gets a refusal that names the remedy. */
class FloodTest {

    private static final long REGION = 64 << 10;
    private static final long LEASE = TestDevice.patience(60_000_000_000L);
    private static final int MOST = 100_000;

    private ServerPlane server;
    private ControlServer control;
    private ControlClient greedy;
    private ControlClient modest;

    @BeforeEach
    void start() {
        server = ServerPlane.open(
                new ServerOptions(REGION * 4, REGION, LEASE, TestDevice.server(), "flood", 1, false, Idle.PARK));
        control = ControlServer.start("127.0.0.1:0", server);
        greedy = ControlClient.connect(control.address());
        modest = ControlClient.connect(control.address());
    }

    @AfterEach
    void stop() {
        modest.close();
        greedy.close();
        control.close();
        server.close();
    }

    private static String flood(Runnable call) {
        for (int i = 0; i < MOST; i++) {
            try {
                call.run();
            } catch (ControlException e) {
                return e.getMessage();
            }
        }
        throw new AssertionError(MOST + " calls and no refusal");
    }

    private void assertRoomForAnother() {
        try (TestClient other = new TestClient(modest);
                LeaseKeeper _ = new LeaseKeeper(modest, other.lease, (lease, cause) -> {})) {
            RegionGrant region = other.allocate();
            other.fill(region, 1);
            other.connect();
            other.assertFilled(region, 1);
            modest.closeLease(other.lease.id());
        }
    }

    @Test
    void leases() {
        String refusal = flood(() -> greedy.openLease("flood"));
        assertTrue(refusal.contains("the client at /127.0.0.1:"), refusal);
        assertTrue(refusal.contains(server.budgets().leases().client() + " leases"), refusal);
        assertRoomForAnother();
    }

    /** A client with many leases gets no more queue pairs than with one lease. */
    @Test
    void connections() {
        try (Context context = Devices.open(TestDevice.client());
                ProtectionDomain domain = context.allocateProtectionDomain();
                CompletionQueue completions = context.createCompletionQueue(1, 1, null);
                QueuePair queuePair = domain.createQueuePair(completions, 1, 0)) {
            Lease[] lease = new Lease[1];
            int[] connections = {0};
            String refusal = flood(() -> {
                if (connections[0]++ % 100 == 0) {
                    lease[0] = greedy.openLease("flood");
                }
                greedy.connect(lease[0].id(), queuePair.endpoint());
            });
            assertTrue(refusal.contains("the client at /127.0.0.1:"), refusal);
            assertTrue(refusal.contains(server.budgets().queuePairs().client() + " queue pairs"), refusal);
            assertTrue(
                    server.budgets().queuePairs().client() <= context.limits().maxQueuePairs() / 4);
            assertRoomForAnother();
            greedy.closeLease(lease[0].id());
            Lease again = greedy.openLease("again");
            greedy.connect(again.id(), queuePair.endpoint());
        }
    }

    @Test
    void ringMemory() {
        try (Context context = Devices.open(TestDevice.client());
                ProtectionDomain domain = context.allocateProtectionDomain();
                CompletionQueue completions = context.createCompletionQueue(1, 1, null);
                QueuePair queuePair = domain.createQueuePair(completions, 1, 0)) {
            long all = 64L << 20;
            try (ServerPlane small =
                            ServerPlane.open(new ServerOptions(REGION * 4, REGION, LEASE, TestDevice.server(), "small")
                                    .limits(new ServerLimits(0, 0, all)));
                    ControlServer smallControl = ControlServer.start("127.0.0.1:0", small);
                    ControlClient plane = ControlClient.connect(smallControl.address())) {
                Lease lease = plane.openLease("flood");
                String refusal = flood(
                        () -> plane.connectRing(lease.id(), new RingRequest(queuePair.endpoint(), 256, 256, 1, 0, 0)));
                assertTrue(
                        refusal.contains("of message rings")
                                && refusal.contains("the most is 64 MiB")
                                && refusal.contains("smaller batch"),
                        refusal);
                plane.closeLease(lease.id());
                assertEquals(0, small.budgets().ringBytes().lent());
                assertEquals(0, small.budgets().queuePairs().lent());
                assertEquals(0, small.budgets().leases().lent());
            }
        }
    }

    @Test
    void aLimitThatTheUserSetsHolds() {
        try (ServerPlane small =
                ServerPlane.open(new ServerOptions(REGION * 4, REGION, LEASE, TestDevice.server(), "small")
                        .limits(new ServerLimits(2, 0, 0)))) {
            small.openLease("one");
            Lease two = small.openLease("two");
            String refusal = assertThrows(ControlException.class, () -> small.openLease("three"))
                    .getMessage();
            assertTrue(refusal.contains("lent 2 leases") && refusal.contains("--max-leases"), refusal);
            small.closeLease(two.id());
            small.openLease("three");
        }
    }

    /** The server's counts go down when a connection ends. */
    @Test
    void whatIsGivenBackMayBeTakenAgain() {
        try (BatchClient client = new BatchClient(server, new RingShape(4, 32), 1)) {
            long before = server.budgets().queuePairs().lent();
            server.disconnect(client.lease.id(), client.connected.connectionId());
            assertEquals(before - 1, server.budgets().queuePairs().lent());
            assertEquals(0, server.budgets().ringBytes().lent());
            server.disconnect(client.lease.id(), client.connected.connectionId());
            assertEquals(before - 1, server.budgets().queuePairs().lent());
            client.drain();
            assertFalse(client.batches.isFull());
        }
    }
}
