package io.farheap.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.control.CacheGrant;
import io.farheap.control.ControlException;
import io.farheap.control.ControlException.Code;
import io.farheap.control.ManagerKey;
import io.farheap.control.RegionGrant;
import io.farheap.control.ServerStatus;
import io.farheap.control.SignedGrant;
import io.farheap.control.plane.ControlPlane;
import io.farheap.control.plane.RegionUse;
import io.farheap.control.plane.WantedRegions;
import io.farheap.server.contract.FakeMachine;
import io.farheap.server.contract.Headroom;
import io.farheap.server.contract.ServerOptions;
import io.farheap.testing.TestDevice;
import java.lang.foreign.ValueLayout;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A server's reactions to its machine's free memory, which the test sets. */
class HeadroomTest {

    private static final long REGION = 64 * 1024;
    private static final int REGIONS = 8;

    private final FakeMachine machine = new FakeMachine(REGION, 64, REGIONS);
    private ServerPlane server;

    @BeforeEach
    void open() {
        // The clock stands still, so a manager that does not answer is waited for.
        server = ServerPlane.open(options().headroom(machine.headroom()), () -> 0);
        machine.runs(server);
    }

    private static ServerOptions options() {
        return new ServerOptions(
                REGIONS * REGION, REGION, TestDevice.patience(30_000_000_000L), TestDevice.server(), "headroom");
    }

    @AfterEach
    void close() {
        server.close();
    }

    private static void await(String what, BooleanSupplier condition) {
        long deadline = System.nanoTime() + TestDevice.patience(30_000_000_000L);
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - deadline > 0) {
                throw new AssertionError("waited too long for: " + what);
            }
            LockSupport.parkNanos(100_000);
        }
    }

    private ServerStatus status() {
        return server.describe();
    }

    @Test
    void freeRegionsGoToTheMachineAndComeBackZeroed() {
        try (TestClient client = new TestClient(server)) {
            List<RegionGrant> all = server.allocate(client.lease.id(), REGIONS);
            client.page().fill((byte) 7);
            for (RegionGrant region : all) {
                client.write(region, 0);
            }
            machine.wants(3);
            all.subList(0, 5).forEach(region -> server.release(client.lease.id(), region.regionId()));
            await("three are withdrawn", () -> status().withdrawnRegions() == 3);
            assertEquals(2, status().server().freeRegions());
            assertEquals(
                    Code.OUT_OF_MEMORY,
                    assertThrows(ControlException.class, () -> server.allocate(client.lease.id(), 3))
                            .code());
            machine.wants(0);
            machine.othersHave(0);
            await("all are free again", () -> status().server().freeRegions() == 5);
            for (RegionGrant region : server.allocate(client.lease.id(), 5)) {
                client.read(region, 0);
                assertEquals(0, client.page().get(ValueLayout.JAVA_LONG_UNALIGNED, 0), "region " + region.regionId());
            }
        }
    }

    /**
     * The manager has counted them as the caches': they would find no room where they were promised some. Of one
     * cache's grant the server knows nothing yet.
     */
    @Test
    void whatCachesWerePromisedIsNotWithdrawn() throws Exception {
        KeyPair keys = KeyPairGenerator.getInstance(SignedGrant.ALGORITHM).generateKeyPair();
        server.requireGrants().accept(ManagerKey.of(1, keys.getPublic().getEncoded(), 1));
        machine.wants(REGIONS);
        await("the server wants all of them back", () -> server.reportWanted() == REGIONS);
        int looks = machine.looks();
        await("the server has looked again", () -> machine.looks() > looks + 2);
        assertEquals(0, server.withdrawnRegions(), "the manager has not answered");
        server.promised(4);
        await("all others are withdrawn", () -> status().withdrawnRegions() == REGIONS - 4);
        int more = machine.looks();
        await("the server has looked again", () -> machine.looks() > more + 2);
        assertEquals(4, server.reportWanted());
        long id = server.hello(ControlPlane.PROTOCOL_VERSION).serverId();
        int rights = CacheGrant.READ | CacheGrant.WRITE;
        SignedGrant four = SignedGrant.sign(new CacheGrant(7, id, 4, rights, 300_000, 1, 1), keys.getPrivate());
        long lease = server.openLease("granted", 7, four).id();
        List<RegionGrant> all = server.allocate(lease, 4);
        server.promised(0);
        server.release(lease, all.getFirst().regionId());
        await("what comes back is withdrawn", () -> server.withdrawnRegions() == REGIONS - 3);
        machine.wants(0);
        machine.othersHave(0);
        await(
                "all but what the cache has is free again",
                () -> status().server().freeRegions() == REGIONS - 3);
        assertEquals(0, server.reportWanted());
    }

    /**
     * The machine has enough free memory, and its tasks wait for memory nevertheless. Other programs take some of it
     * then, and more than the headroom is left.
     */
    @Test
    void tasksThatWaitForMemoryGetSomeAndAQuarterAtMost() {
        machine.othersHave(0);
        machine.stalls(30);
        await("a step is withdrawn", () -> status().withdrawnRegions() > 0);
        machine.othersHave(30);
        int looks = machine.looks();
        await("the server has looked again", () -> machine.looks() > looks + 2);
        assertTrue(status().withdrawnRegions() <= REGIONS / 4, status().withdrawnRegions() + " are withdrawn");
    }

    @Test
    void whatIsGivenBackWhileMemoryIsShortIsFreeForNobody() {
        try (TestClient client = new TestClient(server)) {
            List<RegionGrant> all = server.allocate(client.lease.id(), REGIONS);
            machine.wants(REGIONS);
            await("the server has looked", () -> status().headroom().freeBytes() < 16 * REGION);
            server.release(client.lease.id(), all.getFirst().regionId());
            await("it is withdrawn", () -> status().withdrawnRegions() == 1);
            assertEquals(0, status().server().freeRegions());
        }
    }

    @Test
    void theLeastUsedOfWhatCanBeSparedIsAskedForUntilItIsBack() {
        try (TestClient client = new TestClient(server)) {
            List<RegionGrant> all = server.allocate(client.lease.id(), REGIONS);
            int hot = all.get(2).regionId();
            int cold = all.get(5).regionId();
            List<RegionUse> uses = List.of(new RegionUse(hot, 1000), new RegionUse(cold, 10));
            assertEquals(List.of(), report(client, uses));
            machine.wants(1);
            await("the less used one is asked for", () -> report(client, uses).equals(List.of(cold)));
            assertEquals(1, status().headroom().askedRegions());
            server.release(client.lease.id(), cold);
            await("it is withdrawn", () -> status().withdrawnRegions() == 1);
            await("nothing is asked for", () -> report(client, uses).isEmpty());
            assertEquals(1, status().headroom().evictedRegions());
            assertEquals(0, status().headroom().askedRegions());
        }
    }

    @Test
    void nothingIsAskedForThatWasNotOfferedAndNothingOnceThereIsMemory() {
        try (TestClient client = new TestClient(server);
                TestClient other = new TestClient(server)) {
            List<RegionGrant> ours = server.allocate(client.lease.id(), 2);
            server.allocate(other.lease.id(), REGIONS - 2);
            List<RegionUse> uses = List.of(new RegionUse(ours.get(1).regionId(), 5));
            // A region of another lease, and one of no lease: this client has neither to offer.
            report(other, List.of(new RegionUse(ours.getFirst().regionId(), 0), new RegionUse(99, 0)));
            report(client, uses);
            machine.wants(REGIONS);
            await("what was offered is asked for", () -> !report(client, uses).isEmpty());
            assertEquals(List.of(ours.get(1).regionId()), report(client, uses));
            assertEquals(1, status().headroom().askedRegions());
            assertEquals(List.of(), report(other, List.of()));
            machine.wants(0);
            await("it is not wanted any more", () -> report(client, uses).isEmpty());
            assertEquals(0, status().headroom().evictedRegions());
        }
    }

    private List<Integer> report(TestClient client, List<RegionUse> uses) {
        WantedRegions wanted = server.reportUse(client.lease.id(), uses);
        assertEquals(machine.headroom().periodNanos(), wanted.againNanos());
        return wanted.regions();
    }

    @Test
    void aServerWithoutHeadroomNeverAsks() {
        try (ServerPlane plain = ServerPlane.open(options());
                TestClient client = new TestClient(plain)) {
            RegionGrant region = client.allocate();
            assertEquals(
                    WantedRegions.NEVER,
                    plain.reportUse(client.lease.id(), List.of(new RegionUse(region.regionId(), 0))));
            assertEquals(ServerStatus.HeadroomStatus.NONE, plain.describe().headroom());
        }
    }

    @Test
    void aReportThatMakesNoSenseIsRefused() {
        try (TestClient client = new TestClient(server)) {
            long lease = client.lease.id();
            List<RegionUse> many = Collections.nCopies(ControlPlane.MAX_REPORTED + 1, new RegionUse(0, 0));
            assertTrue(refusal(() -> server.reportUse(lease, many)).contains("at most 128"));
            assertTrue(refusal(() -> server.reportUse(lease, List.of(new RegionUse(3, -1))))
                    .contains("region 3 with -1 accesses"));
        }
    }

    private static String refusal(Runnable call) {
        ControlException e = assertThrows(ControlException.class, call::run);
        assertEquals(Code.INVALID_ARGUMENT, e.code());
        return e.getMessage();
    }

    @Test
    void whatItIsToKeepHasBounds() {
        assertTrue(assertThrows(IllegalArgumentException.class, () -> Headroom.of(91))
                .getMessage()
                .contains("91%"));
        assertTrue(assertThrows(IllegalArgumentException.class, () -> new Headroom(25, 1, 2, machine))
                .getMessage()
                .contains("10 ms"));
    }

    @Test
    void aStatusNamesLeasesAndWhatTheyHold() {
        try (TestClient client = new TestClient(server)) {
            server.allocate(client.lease.id(), 3);
            ServerStatus status = status();
            assertEquals(1, status.leases().size());
            ServerStatus.LeaseStatus lease = status.leases().getFirst();
            assertEquals("test", lease.clientName());
            assertEquals(3, lease.regions());
            assertEquals(1, lease.connections());
            assertTrue(lease.leftNanos() > 0);
            assertEquals(REGIONS - 3, status.server().freeRegions());
            assertEquals(25, status.headroom().percent());
        }
    }
}
