package io.farheap.server;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.control.ControlException;
import io.farheap.control.ControlException.Code;
import io.farheap.control.RegionGrant;
import io.farheap.control.SpaceInfo;
import io.farheap.control.SpaceKey;
import io.farheap.control.plane.ControlPlane;
import io.farheap.control.plane.Lease;
import io.farheap.control.plane.SpaceGrant;
import io.farheap.control.plane.SpaceGrowth;
import io.farheap.control.plane.SpacePlane;
import io.farheap.server.budget.Budget;
import io.farheap.server.contract.ServedSpace;
import io.farheap.server.contract.ServedSpaces;
import io.farheap.server.contract.ServerOptions;
import io.farheap.server.contract.SpaceListener;
import io.farheap.server.contract.SpacePin;
import io.farheap.server.fence.Fence;
import io.farheap.server.lease.SpaceOpenings;
import io.farheap.server.space.Spaces;
import io.farheap.testing.FailingLog;
import io.farheap.testing.TestDevice;
import io.farheap.verbs.WcStatus;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Shared spaces of one server in this process, and clients of it on the software device. */
class SpacesTest {

    private static final long REGION = 64 << 10;
    private static final int REGIONS = 8;
    private static final long LEASE = 300_000_000_000L;
    private static final long PATIENCE_NANOS = TestDevice.patience(60_000_000_000L);
    private static final SpaceKey KEY = SpaceKey.of("space", "a token of some length");
    private static final byte[] DESCRIPTOR = {1, 2, 3};

    private final List<String> told = new CopyOnWriteArrayList<>();
    private ServerPlane server;
    private SpacePlane spaces;
    private long lease;

    @BeforeEach
    void start() {
        start(LEASE);
    }

    private void start(long leaseNanos) {
        server = ServerPlane.open(new ServerOptions(REGION * REGIONS, REGION, leaseNanos, TestDevice.server(), "test"));
        spaces = server.spaces();
        lease = server.openLease("creator").id();
        server.servedSpaces().listen(new SpaceListener() {
            @Override
            public void openingEnded(long spaceId, long leaseId) {
                told.add("opening " + spaceId + " " + leaseId);
            }

            @Override
            public void spaceEnded(long spaceId) {
                told.add("space " + spaceId);
                throw new IllegalStateException("injected: nobody else is to suffer");
            }
        });
    }

    @AfterEach
    void stop() {
        server.close();
    }

    private int free() {
        return server.hello(ControlPlane.PROTOCOL_VERSION).freeRegions();
    }

    private static void await(String what, BooleanSupplier condition) {
        long deadline = System.nanoTime() + PATIENCE_NANOS;
        while (!condition.getAsBoolean()) {
            assertTrue(System.nanoTime() - deadline < 0, what + " has not come about");
            LockSupport.parkNanos(100_000);
        }
    }

    private static ControlException refused(Code code, Runnable call) {
        ControlException e = assertThrows(ControlException.class, call::run);
        assertEquals(code, e.code(), e::getMessage);
        return e;
    }

    private SpaceGrant create(int regions) {
        return spaces.create(lease, KEY, regions, SpacePlane.FOR_EVER, DESCRIPTOR, 1);
    }

    @Test
    void whatOneLeaseWritesAnotherReads() {
        SpaceGrant created = create(2);
        try (TestClient one = new TestClient(server);
                TestClient two = new TestClient(server)) {
            SpaceGrant first = spaces.open(one.lease.id(), KEY);
            SpaceGrant second = spaces.open(two.lease.id(), KEY);
            assertEquals(created.spaceId(), second.spaceId());
            assertArrayEquals(DESCRIPTOR, second.descriptor());
            assertEquals(
                    first.regions().stream().map(RegionGrant::regionId).toList(),
                    second.regions().stream().map(RegionGrant::regionId).toList());
            assertNotEquals(
                    first.regions().getFirst().rkey(),
                    second.regions().getFirst().rkey());
            for (int i = 0; i < 2; i++) {
                one.assertZero(first.regions().get(i));
                one.fill(first.regions().get(i), i);
                two.assertFilled(second.regions().get(i), i);
            }
            // A region's key cannot be used on another lease's connection.
            assertEquals(WcStatus.REM_ACCESS_ERR, two.read(first.regions().getFirst(), 0));
        }
    }

    @Test
    void itOutlivesAllWhoHaveItOpen() {
        SpaceGrant created = create(2);
        try (TestClient one = new TestClient(server);
                TestClient two = new TestClient(server)) {
            SpaceGrant first = spaces.open(one.lease.id(), KEY);
            one.fill(first.regions().get(1), 7);
            server.closeLease(one.lease.id());
            assertNotEquals(WcStatus.SUCCESS, one.read(first.regions().get(1), 0));
            assertEquals(List.of("opening " + created.spaceId() + " " + one.lease.id()), told);
            server.closeLease(lease);
            assertEquals(REGIONS - 2, free());

            two.assertFilled(spaces.open(two.lease.id(), KEY).regions().get(1), 7);
            assertEquals(List.of(new SpaceInfo("space", 2, SpacePlane.FOR_EVER, 1)), spaces.list(two.lease.id()));
        }
    }

    @Test
    void wrongNamesAndWrongTokensAreToldTheSame() {
        create(1);
        String name = refused(Code.NOT_FOUND, () -> spaces.open(lease, SpaceKey.of("spaces", "a token of some length")))
                .getMessage();
        SpaceKey wrong = SpaceKey.of("space", "a token of some lengtH");
        assertEquals(
                name, refused(Code.NOT_FOUND, () -> spaces.open(lease, wrong)).getMessage());
        refused(Code.NOT_FOUND, () -> spaces.grow(lease, wrong, 1, 1));
        refused(Code.NOT_FOUND, () -> spaces.extend(lease, wrong, 1));
        refused(Code.NOT_FOUND, () -> spaces.drop(lease, wrong, SpacePlane.ANY_SPACE));
        refused(Code.INVALID_ARGUMENT, () -> spaces.create(lease, wrong, 1, 0, DESCRIPTOR, 1));
        refused(Code.INVALID_ARGUMENT, () -> spaces.create(lease, KEY, 1, 0, DESCRIPTOR, 2));
        assertEquals(REGIONS - 1, free());
    }

    @Test
    void callsThatAreRepeatedHaveTheSameAnswer() {
        SpaceGrant created = create(2);
        assertSame(created, create(2));
        assertSame(created, spaces.open(lease, KEY));
        Lease other = server.openLease("other");
        assertEquals(
                created.spaceId(),
                spaces.create(other.id(), KEY, 2, 0, DESCRIPTOR, 1).spaceId());

        SpaceGrowth grown = spaces.grow(lease, KEY, 2, 9);
        assertEquals(2, grown.first());
        assertEquals(grown, spaces.grow(lease, KEY, 2, 9));
        assertEquals(4, spaces.grow(other.id(), KEY, 1, 10).first());
        assertEquals(grown, spaces.grow(lease, KEY, 2, 9));
        assertEquals(REGIONS - 5, free());
        assertEquals(5, spaces.open(lease, KEY).regions().size());

        spaces.close(lease, created.openingId());
        spaces.close(lease, created.openingId());
        assertNotEquals(created.openingId(), spaces.open(lease, KEY).openingId());
        spaces.close(lease, created.openingId());
        assertEquals(2, spaces.list(lease).getFirst().leases());

        spaces.drop(lease, KEY, created.spaceId());
        refused(Code.NOT_FOUND, () -> create(2));
        long next = spaces.create(lease, KEY, 1, 0, DESCRIPTOR, 2).spaceId();
        assertNotEquals(created.spaceId(), next);
        spaces.drop(lease, KEY, created.spaceId());
        assertEquals(next, spaces.open(lease, KEY).spaceId());
        refused(Code.NOT_FOUND, () -> spaces.drop(lease, KEY, created.spaceId() + 1));
        refused(Code.NOT_FOUND, () -> spaces.drop(lease, SpaceKey.of("space", "some other token"), created.spaceId()));
        await("all but one", () -> free() == REGIONS - 1);
    }

    private static void assertSame(SpaceGrant one, SpaceGrant two) {
        assertEquals(one.spaceId(), two.spaceId());
        assertEquals(one.openingId(), two.openingId());
        assertEquals(one.regions(), two.regions());
    }

    @Test
    void aSpaceThatIsDroppedIsCutOffFromEveryLeaseAndZeroed() {
        SpaceGrant created = create(REGIONS - 1);
        try (TestClient one = new TestClient(server);
                TestClient two = new TestClient(server)) {
            RegionGrant own = one.allocate();
            one.fill(own, 1);
            SpaceGrant first = spaces.open(one.lease.id(), KEY);
            SpaceGrant second = spaces.open(two.lease.id(), KEY);
            first.regions().forEach(region -> one.fill(region, 2));
            spaces.drop(lease, KEY, SpacePlane.ANY_SPACE);

            assertEquals(WcStatus.REM_ACCESS_ERR, two.write(second.regions().getFirst(), 0));
            assertEquals(WcStatus.REM_ACCESS_ERR, one.read(first.regions().getLast(), 0));
            one.connect();
            one.assertFilled(own, 1);
            refused(Code.NOT_FOUND, () -> spaces.open(two.lease.id(), KEY));
            assertEquals(List.of(), spaces.list(lease));
            assertEquals(List.of("space " + created.spaceId()), told);

            await("free regions", () -> free() == REGIONS - 1);
            two.connect();
            server.allocate(two.lease.id(), REGIONS - 1).forEach(two::assertZero);
        }
        server.closeLease(lease);
    }

    @Test
    void aSpaceGrowsForAllWhoOpenItAgain() {
        create(1);
        try (TestClient one = new TestClient(server);
                TestClient two = new TestClient(server)) {
            spaces.open(one.lease.id(), KEY);
            refused(Code.NOT_FOUND, () -> spaces.grow(two.lease.id(), KEY, 1, 3));
            assertEquals(REGIONS - 1, free());
            spaces.open(two.lease.id(), KEY);
            SpaceGrowth grown = spaces.grow(two.lease.id(), KEY, 3, 3);
            two.fill(grown.regions().get(2), 5);
            List<RegionGrant> all = spaces.open(one.lease.id(), KEY).regions();
            assertEquals(4, all.size());
            one.assertFilled(all.get(3), 5);
            refused(Code.OUT_OF_MEMORY, () -> spaces.grow(two.lease.id(), KEY, REGIONS, 4));
            assertEquals(4, spaces.open(two.lease.id(), KEY).regions().size());
            spaces.drop(lease, KEY, SpacePlane.ANY_SPACE);
            await("all regions", () -> free() == REGIONS);
        }
    }

    @Test
    void itsTimeEnds() {
        long millis = TestDevice.patience(1_000);
        SpaceGrant created = spaces.create(lease, KEY, 2, millis, DESCRIPTOR, 1);
        assertTrue(created.millisLeft() > 0 && created.millisLeft() <= millis, "" + created.millisLeft());
        await("the end of the space", () -> spaces.list(lease).isEmpty());
        await("all regions", () -> free() == REGIONS);
        refused(Code.NOT_FOUND, () -> spaces.open(lease, KEY));
        assertEquals(List.of("space " + created.spaceId()), told);
        assertEquals(0, server.budgets().spaces().lent());
        assertEquals(0, server.budgets().registrations().lent());
    }

    @Test
    void itsTimeEndsAlsoWhereNobodyCanBeTold() {
        try (FailingLog log = new FailingLog(Spaces.class, "space unlogged", new OutOfMemoryError("injected"))) {
            spaces.create(lease, SpaceKey.of("unlogged", "a token of some length"), 2, 1, DESCRIPTOR, 1);
            await("all regions", () -> free() == REGIONS);
            assertTrue(log.failures() > 0);
        }
    }

    @Test
    void itsTimeIsExtendedAndNeverCut() {
        long hour = 3_600_000;
        spaces.create(lease, KEY, 1, hour, DESCRIPTOR, 1);
        assertTrue(spaces.extend(lease, KEY, 1) > hour / 2);
        assertTrue(spaces.extend(lease, KEY, 2 * hour) > hour);
        assertTrue(spaces.extend(lease, KEY, 1) > hour);
        assertEquals(SpacePlane.FOR_EVER, spaces.extend(lease, KEY, SpacePlane.FOR_EVER));
        assertEquals(SpacePlane.FOR_EVER, spaces.extend(lease, KEY, hour));
    }

    @Test
    void whatMakesNoSenseIsRefusedAndChangesNothing() {
        refused(Code.INVALID_ARGUMENT, () -> create(0));
        refused(Code.INVALID_ARGUMENT, () -> create(-1));
        refused(Code.OUT_OF_MEMORY, () -> create(REGIONS + 1));
        refused(Code.OUT_OF_MEMORY, () -> create(Integer.MAX_VALUE));
        refused(Code.INVALID_ARGUMENT, () -> spaces.create(lease, KEY, 1, -1, DESCRIPTOR, 1));
        refused(Code.INVALID_ARGUMENT, () -> spaces.create(lease, KEY, 1, Long.MAX_VALUE, DESCRIPTOR, 1));
        refused(Code.INVALID_ARGUMENT, () -> spaces.create(lease, KEY, 1, 0, new byte[257], 1));
        refused(Code.LEASE_EXPIRED, () -> spaces.create(lease + 1, KEY, 1, 0, DESCRIPTOR, 1));
        refused(Code.LEASE_EXPIRED, () -> spaces.open(lease + 1, KEY));
        refused(Code.LEASE_EXPIRED, () -> spaces.list(lease + 1));
        refused(Code.LEASE_EXPIRED, () -> spaces.drop(lease + 1, KEY, 0));
        assertEquals(0, server.budgets().spaces().lent());
        assertEquals(REGIONS, free());
        create(1);
        refused(Code.INVALID_ARGUMENT, () -> spaces.grow(lease, KEY, 0, 1));
        refused(Code.OUT_OF_MEMORY, () -> spaces.grow(lease, KEY, Integer.MAX_VALUE, 1));
        refused(Code.INVALID_ARGUMENT, () -> spaces.extend(lease, KEY, -1));
        spaces.close(lease, 12345);
        spaces.close(lease + 1, 12345);
    }

    @Test
    void anOpeningThatIsClosedReachesNothingAndOthersGoOn() {
        SpaceGrant created = create(2);
        try (TestClient one = new TestClient(server);
                TestClient two = new TestClient(server)) {
            SpaceGrant first = spaces.open(one.lease.id(), KEY);
            SpaceGrant second = spaces.open(two.lease.id(), KEY);
            one.fill(first.regions().getFirst(), 1);
            assertTrue(server.servedSpaces().find(created.spaceId()).openedBy(one.lease.id()));
            spaces.close(one.lease.id(), first.openingId());
            assertFalse(server.servedSpaces().find(created.spaceId()).openedBy(one.lease.id()));
            assertEquals(List.of("opening " + created.spaceId() + " " + one.lease.id()), told);
            assertEquals(WcStatus.REM_ACCESS_ERR, one.read(first.regions().getFirst(), 0));
            two.assertFilled(second.regions().getFirst(), 1);
            one.connect();
            one.assertFilled(spaces.open(one.lease.id(), KEY).regions().getFirst(), 1);
        }
    }

    /** Neighbouring regions are one registration, so that a device's number of registrations suffices. */
    @Test
    void registrationsAreLentAndComeBack() {
        create(REGIONS);
        assertEquals(1, server.budgets().registrations().lent());
        server.closeLease(lease);
        assertEquals(0, server.budgets().registrations().lent());
        lease = server.openLease("another").id();
        spaces.drop(lease, KEY, SpacePlane.ANY_SPACE);
        await("all regions", () -> free() == REGIONS);

        List<RegionGrant> all = server.allocate(lease, REGIONS);
        all.stream()
                .filter(region -> region.regionId() % 2 == 0)
                .forEach(region -> server.release(lease, region.regionId()));
        try (TestClient client = new TestClient(server)) {
            SpaceGrant scattered =
                    spaces.create(client.lease.id(), KEY, REGIONS / 2, SpacePlane.FOR_EVER, DESCRIPTOR, 5);
            assertEquals(REGIONS / 2, server.budgets().registrations().lent());
            for (RegionGrant region : scattered.regions()) {
                client.fill(region, region.regionId());
                client.assertFilled(region, region.regionId());
            }
        }
    }

    @Test
    void thereIsALimitOfSpaces() {
        Budget budget = server.budgets().spaces();
        List<Budget.Loan> others = new CopyOnWriteArrayList<>();
        while (budget.lent() < budget.all()) {
            others.add(budget.lend(null, null, 1));
        }
        String message = refused(Code.INVALID_ARGUMENT, () -> create(1)).getMessage();
        assertTrue(message.contains("shared spaces") && message.contains("drop some"), message);
        assertEquals(REGIONS, free());
        others.removeFirst().close();
        create(1);
        spaces.drop(lease, KEY, SpacePlane.ANY_SPACE);
        await("the return of the space", () -> budget.lent() == budget.all() - 1);
    }

    @Test
    void aManagedServerHasNone() {
        server.requireGrants();
        String message = refused(Code.GRANT_REFUSED, () -> create(1)).getMessage();
        assertTrue(message.contains("cache manager"), message);
    }

    @Test
    void aServiceUsesItsMemoryUntilItsEnd() throws Exception {
        SpaceGrant created = create(2);
        ServedSpaces served = server.servedSpaces();
        assertNull(served.find(created.spaceId() + 1));
        assertNull(served.use(created.spaceId() + 1));
        try (TestClient client = new TestClient(server)) {
            SpaceGrant opened = spaces.open(client.lease.id(), KEY);
            ServedSpace space = served.find(created.spaceId());
            assertEquals("space", space.name());
            assertArrayEquals(DESCRIPTOR, space.descriptor());
            assertEquals(2, space.regions());
            assertTrue(space.openedBy(client.lease.id()) && space.openedBy(lease) && !space.openedBy(0));
            space.region(1).set(ValueLayout.JAVA_LONG, 8, 42);
            assertEquals(WcStatus.SUCCESS, client.read(opened.regions().get(1), 0));
            assertEquals(42, client.page().get(ValueLayout.JAVA_LONG, 8));
            assertThrows(IndexOutOfBoundsException.class, () -> space.region(2));
            spaces.grow(lease, KEY, 1, 1);
            assertEquals(3, space.regions());
        }

        SpacePin use = served.use(created.spaceId());
        assertNotNull(use);
        use.space().region(0).fill((byte) 7);
        CountDownLatch dropped = new CountDownLatch(1);
        Thread.ofVirtual().start(() -> {
            spaces.drop(lease, KEY, SpacePlane.ANY_SPACE);
            dropped.countDown();
        });
        // The drop does not wait for ever for a service that keeps using the space.
        assertTrue(dropped.await(PATIENCE_NANOS, TimeUnit.NANOSECONDS));
        assertTrue(use.ended());
        assertNull(served.find(created.spaceId()));
        assertNull(served.use(created.spaceId()));
        assertEquals(REGIONS - 3, free());
        assertEquals(List.of(), told);
        assertEquals(7, use.space().region(0).get(ValueLayout.JAVA_BYTE, 0));
        use.close();
        use.close();
        await("all regions", () -> free() == REGIONS);
        assertEquals(List.of("space " + created.spaceId()), told);
    }

    /** As if the device could not close a connection of a lease that had the space open. */
    @Test
    void whatSomebodyMayStillReachIsNeverGrantedAgain() {
        SpaceGrant created = create(2);
        Lease other = server.openLease("other");
        spaces.open(other.id(), KEY);
        SpaceOpenings openings = server.leases().require(lease).spaces();
        Fence fence = new Fence("test");
        openings.cutOff(fence);
        assertTrue(fence.close());
        openings.ended(false);
        assertEquals(List.of("opening " + created.spaceId() + " " + lease), told);

        spaces.drop(other.id(), KEY, SpacePlane.ANY_SPACE);
        await("the end of the space", () -> server.budgets().spaces().lent() == 0);
        // These regions are zeroed after the first space's: when they are free, those would be free, too.
        spaces.create(other.id(), KEY, REGIONS - 2, SpacePlane.FOR_EVER, DESCRIPTOR, 3);
        spaces.drop(other.id(), KEY, SpacePlane.ANY_SPACE);
        await("the return of the others", () -> free() == REGIONS - 2);
        refused(Code.OUT_OF_MEMORY, () -> server.allocate(other.id(), REGIONS - 1));
    }

    @Test
    void aLeaseThatIsNotRenewedEndsItsOpening() {
        SpaceGrant created = create(1);
        long first = lease;
        Lapse.of(server, first);
        await("the end of the lease", () -> told.contains("opening " + created.spaceId() + " " + first));
        lease = server.openLease("another").id();
        assertEquals(created.spaceId(), spaces.open(lease, KEY).spaceId());
        assertEquals(REGIONS - 1, free());
    }

    @Test
    void aServerThatClosesWaitsForServicesOnlyForSoLong() {
        SpaceGrant created = create(1);
        SpacePin use = server.servedSpaces().use(created.spaceId());
        server.close();
        // The space's memory stays mapped as long as the process, so a service that continues does no harm.
        use.space().region(0).fill((byte) 1);
        assertTrue(use.ended());
        use.close();
    }
}
