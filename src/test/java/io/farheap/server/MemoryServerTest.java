package io.farheap.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.control.ControlException;
import io.farheap.control.ControlException.Code;
import io.farheap.control.RegionGrant;
import io.farheap.control.grpc.ControlClient;
import io.farheap.control.grpc.ControlServer;
import io.farheap.control.lease.LeaseKeeper;
import io.farheap.control.plane.ControlPlane;
import io.farheap.control.plane.Lease;
import io.farheap.server.contract.ServerOptions;
import io.farheap.testing.TestDevice;
import io.farheap.verbs.Endpoint;
import io.farheap.verbs.WcStatus;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** One memory server behind real sockets, and clients on the software device. */
class MemoryServerTest {

    private static final long REGION = 256 << 10;
    private static final int REGIONS = 4;
    private static final long LEASE = 300_000_000_000L;
    private static final long SHORT_LEASE = TestDevice.patience(2_000_000_000L);
    private static final long PATIENCE_NANOS = 120_000_000_000L;

    private ServerPlane server;
    private ControlServer control;
    private ControlClient plane;

    @BeforeEach
    void start() {
        start(LEASE);
    }

    private void start(long lease) {
        server = ServerPlane.open(new ServerOptions(REGION * REGIONS, REGION, lease, TestDevice.server(), "test"));
        control = ControlServer.start("127.0.0.1:0", server);
        plane = ControlClient.connect(control.address());
    }

    @AfterEach
    void stop() {
        plane.close();
        control.close();
        server.close();
    }

    private int free() {
        return plane.hello(ControlPlane.PROTOCOL_VERSION).freeRegions();
    }

    private static Code codeOf(Runnable call) {
        return assertThrows(ControlException.class, call::run).code();
    }

    private LeaseKeeper keep(TestClient client) {
        return new LeaseKeeper(plane, client.lease, (lease, cause) -> {});
    }

    @Test
    void aRegionIsWrittenAndReadBack() {
        try (TestClient client = new TestClient(plane);
                LeaseKeeper _ = keep(client)) {
            RegionGrant region = client.allocate();
            assertEquals(REGION, region.length());
            client.assertZero(region);
            client.fill(region, 1);
            client.assertFilled(region, 1);
        }
    }

    @Test
    void allocationIsAllOrNothing() {
        Lease lease = plane.openLease("a");
        List<RegionGrant> three = plane.allocate(lease.id(), 3);
        ControlException e = assertThrows(ControlException.class, () -> plane.allocate(lease.id(), 2));
        assertEquals(Code.OUT_OF_MEMORY, e.code());
        assertTrue(e.getMessage().contains("2 region(s)") && e.getMessage().contains("1 of 4 free"), e.getMessage());
        assertEquals(1, free());

        Set<Integer> ids = new HashSet<>();
        three.forEach(region -> ids.add(region.regionId()));
        plane.allocate(lease.id(), 1).forEach(region -> ids.add(region.regionId()));
        assertEquals(REGIONS, ids.size());
        assertEquals(0, free());
    }

    @Test
    void aReleasedRegionIsZeroWhenItIsGrantedAgain() {
        try (TestClient client = new TestClient(plane);
                LeaseKeeper _ = keep(client)) {
            List<RegionGrant> all = plane.allocate(client.lease.id(), REGIONS);
            all.forEach(region -> client.fill(region, 2));
            all.forEach(region -> plane.release(client.lease.id(), region.regionId()));
            assertEquals(REGIONS, free());
            assertEquals(Code.NOT_FOUND, codeOf(() -> plane.release(client.lease.id(), 0)));

            plane.allocate(client.lease.id(), REGIONS).forEach(client::assertZero);
        }
    }

    @Test
    void anotherLeasesKeyIsRefusedAndHarmsNobody() {
        try (TestClient owner = new TestClient(plane);
                TestClient thief = new TestClient(plane);
                LeaseKeeper _ = keep(owner);
                LeaseKeeper _ = keep(thief)) {
            RegionGrant region = owner.allocate();
            owner.fill(region, 3);

            assertEquals(WcStatus.REM_ACCESS_ERR, thief.read(region, 0));
            thief.connect();
            assertEquals(WcStatus.REM_ACCESS_ERR, thief.write(region, 0));

            owner.assertFilled(region, 3);
        }
    }

    @Test
    void reachingBeyondARegionIsRefused() {
        try (TestClient client = new TestClient(plane);
                LeaseKeeper _ = keep(client)) {
            RegionGrant region = client.allocate();
            assertEquals(WcStatus.REM_ACCESS_ERR, client.read(region, REGION - 1));
        }
    }

    @Test
    void disconnectFences() {
        try (TestClient client = new TestClient(plane);
                LeaseKeeper _ = keep(client)) {
            RegionGrant region = client.allocate();
            client.fill(region, 4);
            plane.disconnect(client.lease.id(), client.connectionId());
            plane.disconnect(client.lease.id(), client.connectionId());

            client.page().fill((byte) 0x55);
            assertNotEquals(WcStatus.SUCCESS, client.write(region, 0));

            client.connect();
            client.assertFilled(region, 4);
        }
    }

    @Test
    void closingALeaseFencesItAndGivesEverythingBackZeroed() {
        try (TestClient client = new TestClient(plane);
                TestClient next = new TestClient(plane);
                LeaseKeeper _ = keep(next)) {
            RegionGrant region = client.allocate();
            client.fill(region, 5);
            plane.closeLease(client.lease.id());
            plane.closeLease(client.lease.id());

            assertNotEquals(WcStatus.SUCCESS, client.write(region, 0));
            assertEquals(Code.LEASE_EXPIRED, codeOf(() -> plane.renewLease(client.lease.id())));
            assertEquals(Code.LEASE_EXPIRED, codeOf(() -> plane.allocate(client.lease.id(), 1)));
            plane.disconnect(client.lease.id(), client.connectionId());
            plane.allocate(next.lease.id(), REGIONS).forEach(next::assertZero);
        }
    }

    @Test
    void aLeaseThatIsNotRenewedExpires() throws Exception {
        stop();
        start(SHORT_LEASE);
        try (TestClient silent = new TestClient(plane);
                TestClient lively = new TestClient(plane);
                LeaseKeeper _ = keep(lively)) {
            RegionGrant lost = silent.allocate();
            silent.fill(lost, 6);
            RegionGrant kept = lively.allocate();
            lively.fill(kept, 7);

            long start = System.nanoTime();
            while (free() != REGIONS - 1) {
                assertTrue(System.nanoTime() - start < PATIENCE_NANOS, "the region was not given back");
                Thread.sleep(10);
            }

            assertNotEquals(WcStatus.SUCCESS, silent.write(lost, 0));
            assertEquals(Code.LEASE_EXPIRED, codeOf(() -> plane.renewLease(silent.lease.id())));
            lively.assertFilled(kept, 7);
            plane.allocate(lively.lease.id(), REGIONS - 1).forEach(lively::assertZero);
        }
    }

    @Test
    void requestsThatMakeNoSenseAreRefusedOneByOne() {
        long lease = plane.openLease("x").id();
        assertEquals(Code.LEASE_EXPIRED, codeOf(() -> plane.renewLease(lease + 1)));
        assertEquals(Code.INVALID_ARGUMENT, codeOf(() -> plane.allocate(lease, 0)));
        assertEquals(Code.INVALID_ARGUMENT, codeOf(() -> plane.allocate(lease, -1)));
        assertEquals(Code.OUT_OF_MEMORY, codeOf(() -> plane.allocate(lease, Integer.MAX_VALUE)));
        assertEquals(Code.NOT_FOUND, codeOf(() -> plane.release(lease, -1)));
        assertEquals(Code.NOT_FOUND, codeOf(() -> plane.export(lease, REGIONS)));
        assertEquals(
                Code.INVALID_ARGUMENT, codeOf(() -> plane.openLease("n".repeat(ControlPlane.MAX_NAME_LENGTH + 1))));
        assertEquals(Code.PROTOCOL_MISMATCH, codeOf(() -> plane.hello(0)));
        Endpoint nowhere = new Endpoint(1, 1, 0, new byte[Endpoint.GID_BYTES], 5, 1, 1);
        assertEquals(Code.TICKET_REFUSED, codeOf(() -> plane.openPull(new byte[0], nowhere)));
        assertEquals(Code.TICKET_REFUSED, codeOf(() -> plane.openPull(new byte[ControlPlane.TOKEN_BYTES], nowhere)));
        plane.disconnect(lease, 42);
        plane.closePull(42);
        assertEquals(REGIONS, free());
        assertEquals(1, plane.allocate(lease, 1).size());
    }
}
