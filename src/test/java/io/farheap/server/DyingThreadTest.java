package io.farheap.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.control.ControlException;
import io.farheap.control.lease.LeaseKeeper;
import io.farheap.control.plane.ControlPlane;
import io.farheap.rpc.RingShape;
import io.farheap.server.contract.ServerOptions;
import io.farheap.server.fence.RetiredResources;
import io.farheap.server.lease.ClientLease;
import io.farheap.server.lease.Leases;
import io.farheap.server.thread.ServerThread;
import io.farheap.testing.FailingLog;
import io.farheap.testing.TestDevice;
import io.farheap.thread.idle.Idle;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** An {@code Error} in each of a server's threads. */
class DyingThreadTest {

    private static final int REGION = 64 << 10;
    private static final int REGIONS = 4;
    private static final RingShape SHAPE = new RingShape(4, 32);
    private static final long LEASE = TestDevice.patience(60_000_000_000L);

    private ServerPlane server;

    private void start(int threads, Idle idle) {
        server = ServerPlane.open(new ServerOptions(
                (long) REGION * REGIONS, REGION, LEASE, TestDevice.server(), "test", threads, false, idle));
    }

    @AfterEach
    void stop() {
        server.close();
    }

    private static Runnable injected() {
        return () -> {
            throw new StackOverflowError("injected");
        };
    }

    private static Runnable standstill(CountDownLatch end) {
        return () -> {
            try {
                end.await();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        };
    }

    private static void await(String what, Callable<Boolean> condition) throws Exception {
        long start = System.nanoTime();
        while (!condition.call()) {
            assertTrue(System.nanoTime() - start < TestDevice.patience(60_000_000_000L), what + " has not come about");
            Thread.sleep(5);
        }
    }

    private int free() {
        return server.hello(ControlPlane.PROTOCOL_VERSION).freeRegions();
    }

    private static void awaitLost(BatchClient client, int region) throws Exception {
        await("the end of the message rings", () -> {
            if (!client.batches.failed() && client.batches.hasRoom()) {
                client.batches.addRead(region, 0, 8, client.address());
                client.batches.send();
            }
            client.batches.receive();
            client.finishAll();
            return client.batches.failed();
        });
    }

    @Test
    void aServerThreadTakesItsRingsWithItAndOthersTakeNewOnes() throws Exception {
        start(2, Idle.PARK);
        ServerThread doomed = server.threads().thread(0);
        // Leases begin at random threads: rings of two threads reach both.
        try (BatchClient keptOrLost = new BatchClient(server, SHAPE, 2);
                BatchClient second = new BatchClient(server, SHAPE, 1)) {
            int region = keptOrLost.allocate().regionId();
            int other = second.allocate().regionId();
            assertEquals(0, keptOrLost.write(region, 0, 8, 0));
            assertEquals(0, second.write(other, 0, 8, 0));

            doomed.fail(injected());
            await("the end of the thread", () -> !doomed.alive());
            for (BatchClient client : new BatchClient[] {keptOrLost, second}) {
                int mine = client == keptOrLost ? region : other;
                if (client.batches.failed() || client.write(mine, 0, 8, 0) != 0) {
                    awaitLost(client, mine);
                }
            }
            for (int i = 0; i < 4; i++) {
                try (BatchClient later = new BatchClient(server, SHAPE, 2)) {
                    int its = later.allocate().regionId();
                    assertEquals(0, later.write(its, 0, 8, 0));
                    assertEquals(0, later.read(its, 0, 8, 8));
                }
            }
        }
    }

    @Test
    void whereAllHaveDiedNewRingsAreRefusedAndTheRestGoesOn() throws Exception {
        start(1, Idle.PARK);
        try (BatchClient client = new BatchClient(server, SHAPE, 1)) {
            int region = client.allocate().regionId();
            assertEquals(0, client.write(region, 0, 8, 0));
            ServerThread doomed = server.threads().thread(0);
            doomed.fail(injected());
            awaitLost(client, region);
            assertFalse(doomed.alive());
            ControlException refused = assertThrows(ControlException.class, () -> new BatchClient(server, SHAPE, 1));
            assertTrue(
                    refused.getMessage().contains("all 1 server threads have ended")
                            && refused.getMessage().contains("restart"),
                    refused.getMessage());
            server.release(client.lease.id(), region);
            try (TestClient direct = new TestClient(server);
                    LeaseKeeper _ = new LeaseKeeper(server, direct.lease, (lease, cause) -> {})) {
                direct.fill(direct.allocate(), 1);
            }
        }
    }

    /** A thread that takes a ring away locks out the serving thread and others: an error must end that, too. */
    @Test
    void anErrorWhileARingIsTakenAwayKeepsNobodyOut() throws Exception {
        start(1, Idle.PARK);
        ServerThread thread = server.threads().thread(0);
        thread.removal.set(injected());
        assertThrows(StackOverflowError.class, () -> thread.remove(null));
        Thread other = Thread.ofPlatform().daemon().start(thread::barrier);
        await("what another waits for", () -> !other.isAlive());
        try (BatchClient client = new BatchClient(server, SHAPE, 1)) {
            assertEquals(0, client.write(client.allocate().regionId(), 0, 8, 0));
        }
    }

    @Test
    void theThreadThatEndsLeasesGoesOn() throws Exception {
        start(1, Idle.PARK);
        server.leases().fault.set(injected());
        var one = server.openLease("one");
        server.allocate(one.id(), 2);
        Lapse.of(server, one.id());
        await("the end of the lease", () -> free() == REGIONS);
        assertFalse(server.leases().fault.isSet());
    }

    @Test
    void aLeaseEndsAlsoWhereNobodyCanBeTold() throws Exception {
        start(1, Idle.PARK);
        try (FailingLog log = new FailingLog(Leases.class, "client unlogged", new OutOfMemoryError("injected"))) {
            var lease = server.openLease("unlogged");
            server.allocate(lease.id(), 1);
            Lapse.of(server, lease.id());
            await("the end of the lease", () -> free() == REGIONS);
            assertTrue(log.failures() > 0);
        }
    }

    @Test
    void anErrorInTheEndOfOneLeaseHoldsNoOther() throws Exception {
        start(1, Idle.PARK);
        var one = server.openLease("one");
        server.allocate(one.id(), 1);
        ClientLease doomed = server.leases().find(one.id());
        doomed.fault.set(injected());
        var two = server.openLease("two");
        server.allocate(two.id(), 1);
        Lapse.of(server, one.id());
        Lapse.of(server, two.id());
        await("the end of both leases", () -> free() == REGIONS);
        assertFalse(doomed.fault.isSet());
    }

    /** No client will get the regions any more; they are zeroed nevertheless before they are free. */
    @Test
    void aServerThatLeavesMakesNobodyWaitForZeroing() throws Exception {
        start(1, Idle.PARK);
        CountDownLatch zeroes = new CountDownLatch(1);
        server.leave();
        server.zeroing().fault.set(standstill(zeroes));
        try {
            var lease = server.openLease("leaves");
            int region = server.allocate(lease.id(), 2).getFirst().regionId();
            server.release(lease.id(), region, ControlPlane.ANY_ALLOCATION);
            server.closeLease(lease.id());
            assertEquals(REGIONS - 2, free());
        } finally {
            zeroes.countDown();
        }
        await("the regions are not free again", () -> free() == REGIONS);
    }

    /** Neither a lease that ends slowly nor one whose regions take long to zero holds up another. */
    @Test
    void noLeaseWaitsForTheEndOfAnother() throws Exception {
        start(1, Idle.PARK);
        CountDownLatch ends = new CountDownLatch(1);
        CountDownLatch zeroes = new CountDownLatch(1);
        try {
            var slow = server.openLease("slow");
            server.allocate(slow.id(), 1);
            ClientLease held = server.leases().find(slow.id());
            held.fault.set(standstill(ends));
            Lapse.of(server, slow.id());
            server.zeroing().fault.set(standstill(zeroes));
            var large = server.openLease("large");
            server.allocate(large.id(), 1);
            Lapse.of(server, large.id());
            await(
                    "the end of two leases",
                    () -> server.leases().find(large.id()) == null
                            && !held.fault.isSet()
                            && !server.zeroing().fault.isSet());

            var third = server.openLease("third");
            server.allocate(third.id(), 1);
            Lapse.of(server, third.id());
            await("the end of another", () -> server.leases().find(third.id()) == null);
            assertEquals(1, free());
            var fourth = server.openLease("fourth");
            server.allocate(fourth.id(), 1);
            server.closeLease(fourth.id());
            assertEquals(1, free());
        } finally {
            ends.countDown();
            zeroes.countDown();
        }
        await("the end of all", () -> free() == REGIONS);
    }

    @Test
    void theThreadThatZeroesGoesOn() throws Exception {
        start(1, Idle.PARK);
        server.zeroing().fault.set(injected());
        var one = server.openLease("one");
        server.allocate(one.id(), 2);
        Lapse.of(server, one.id());
        await(
                "the end of the lease",
                () -> free() == REGIONS && !server.zeroing().fault.isSet());
    }

    @Test
    void theThreadThatTriesAgainGoesOn() throws Exception {
        start(1, Idle.PARK);
        server.retired().fault.set(injected());
        boolean[] done = new boolean[2];
        int[] tries = {0};
        server.retired().add("one", () -> {
            if (tries[0]++ == 0) {
                throw new OutOfMemoryError("injected");
            }
            return done[0] = tries[0] > 3;
        });
        server.retired().add("two", () -> done[1] = true);
        await("both", () -> done[0] && done[1] && server.retired().isEmpty());
    }

    /** A resource whose close throws an exception is not tried again; the thread continues even if the log fails. */
    @Test
    void theThreadThatTriesAgainGoesOnWhereItCannotSayWhy() throws Exception {
        start(1, Idle.PARK);
        boolean[] done = new boolean[1];
        try (FailingLog log = new FailingLog(RetiredResources.class, "unlogged", new OutOfMemoryError("injected"))) {
            server.retired().add("the unlogged", () -> {
                throw new IllegalStateException("injected");
            });
            await("the failure", () -> log.failures() > 0);
            server.retired().add("another", () -> done[0] = true);
            await("the other", () -> done[0] && server.retired().isEmpty());
        }
    }
}
