package io.farheap.remote.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.control.ControlException;
import io.farheap.control.ControlException.Code;
import io.farheap.control.ServerDescription;
import io.farheap.control.SignedGrant;
import io.farheap.control.grpc.ControlServer;
import io.farheap.control.plane.ControlPlane;
import io.farheap.remote.contract.RemoteRegion;
import io.farheap.remote.contract.RemoteServer;
import io.farheap.server.MemoryServer;
import io.farheap.server.Planes;
import io.farheap.server.contract.ServerOptions;
import io.farheap.testing.PlaneProxy;
import io.farheap.testing.TestDevice;
import io.farheap.verbs.Context;
import io.farheap.verbs.Devices;
import io.farheap.verbs.ProtectionDomain;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * A server whose answers come too late, or not at all: none of its regions leaks while the lease is kept. Each test
 * waits for deadlines, so the tests run at the same time.
 */
class LeasedServerTest {

    private static final long REGION = 64 * 1024;
    private static final long PATIENCE_SECONDS = TestDevice.patience(60);
    private static final int REGIONS = 4;

    private final MemoryServer memory = MemoryServer.open(new ServerOptions(
            REGIONS * REGION, REGION, TestDevice.patience(3_000_000_000L), TestDevice.server(), "test"));
    private final Context context = Devices.open(TestDevice.client());
    private final ProtectionDomain domain = context.allocateProtectionDomain();
    private final Semaphore stuck = new Semaphore(0);
    /** Counted down when an allocation has taken effect at the server, even if the client does not learn of it. */
    private final CountDownLatch granted = new CountDownLatch(1);

    private final CountDownLatch mayGoOn = new CountDownLatch(1);
    private final CompletableFuture<ControlException> lost = new CompletableFuture<>();
    /** The method that hangs, and whether it does so before it takes effect. */
    private volatile String hanging = "";

    private volatile boolean before;
    private volatile boolean refusing;
    /** The server reports huge regions, so that a client waits long for one. */
    private volatile boolean boasting;
    /** The failure domain that the server reports. */
    private volatile String placed = "";

    private ControlServer control;
    private RemoteServer server;

    @BeforeEach
    void open() {
        control = ControlServer.start("127.0.0.1:0", plane());
        server = LeasedServer.attach(
                control.address(),
                0,
                domain,
                "test",
                ControlPlane.NO_CACHE,
                SignedGrant.NONE,
                (_, cause) -> lost.complete(cause),
                ignored -> {});
    }

    @AfterEach
    void close() {
        mayGoOn.countDown();
        server.close();
        control.close();
        memory.close();
        domain.close();
        context.close();
    }

    private ControlPlane plane() {
        return PlaneProxy.around(Planes.of(memory), (method, arguments, rest) -> {
            boolean hangs = method.equals(hanging);
            if (hangs && before) {
                hang();
            }
            if (refusing && method.equals("renewLease")) {
                throw new ControlException(Code.LEASE_EXPIRED, "gone");
            }
            if (method.equals("abandon")) {
                // If it came first, the late allocation would be refused and not given back.
                granted.await();
            }
            Object result = rest.call();
            if (method.equals("allocate")) {
                granted.countDown();
            }
            if (result instanceof ServerDescription told) {
                return new ServerDescription(
                        told.serverId(),
                        told.name(),
                        placed,
                        told.protocolVersion(),
                        boasting ? 1L << 40 : told.regionBytes(),
                        told.totalRegions(),
                        told.freeRegions());
            }
            if (hangs && !before) {
                hang();
            }
            return result;
        });
    }

    private void hang() throws InterruptedException {
        stuck.release();
        mayGoOn.await();
    }

    private void awaitFree(int regions) throws InterruptedException {
        for (int i = 0; memory.description().freeRegions() != regions; i++) {
            assertTrue(i < 100 * PATIENCE_SECONDS, "regions that nobody has are not given back");
            Thread.sleep(10);
        }
    }

    private void allocationTimesOut() throws InterruptedException {
        hanging = "allocate";
        ControlException e = assertThrows(ControlException.class, () -> server.allocate(2));
        assertEquals(Code.DEADLINE_EXCEEDED, e.code());
        assertTrue(stuck.tryAcquire(PATIENCE_SECONDS, TimeUnit.SECONDS));
        hanging = "";
        mayGoOn.countDown();
        // All regions are free before the late grant, too, so wait for it first.
        assertTrue(granted.await(PATIENCE_SECONDS, TimeUnit.SECONDS));
        awaitFree(REGIONS);
        // The server can still give all its regions.
        List<RemoteRegion> all = server.allocate(REGIONS);
        all.forEach(server::releaseQuietly);
        awaitFree(REGIONS);
    }

    @Test
    @Execution(ExecutionMode.CONCURRENT)
    void aServerThatSaysNoFailureDomainIsOneOfItsOwn() {
        assertEquals(control.address(), server.domain());
    }

    @Test
    @Execution(ExecutionMode.CONCURRENT)
    void aServerSaysItsFailureDomain() {
        placed = "räck 7";
        try (RemoteServer other = LeasedServer.attach(
                "localhost" + control.address().substring(control.address().indexOf(':')),
                1,
                domain,
                "test",
                ControlPlane.NO_CACHE,
                SignedGrant.NONE,
                (_, cause) -> lost.complete(cause),
                ignored -> {})) {
            assertEquals("räck 7", other.domain());
        }
    }

    @Test
    @Execution(ExecutionMode.CONCURRENT)
    void whatIsGrantedTooLateIsGivenBack() throws Exception {
        allocationTimesOut();
    }

    @Test
    @Execution(ExecutionMode.CONCURRENT)
    void whatIsGrantedAfterTheClientHasGivenUpIsGivenBack() throws Exception {
        before = true;
        allocationTimesOut();
    }

    @Test
    @Execution(ExecutionMode.CONCURRENT)
    void aRegionThatCouldNotBeReleasedIsReleasedLater() throws Exception {
        List<RemoteRegion> regions = server.allocate(2);
        before = true;
        hanging = "release";
        server.releaseQuietly(regions.getFirst());
        assertTrue(stuck.tryAcquire(PATIENCE_SECONDS, TimeUnit.SECONDS));
        // The hanging call has no effect, as if it had been lost: the region is free only after a second call.
        hanging = "";
        awaitFree(REGIONS - 1);
        mayGoOn.countDown();
        server.releaseQuietly(regions.getLast());
        awaitFree(REGIONS);
    }

    @Test
    @Execution(ExecutionMode.CONCURRENT)
    void aLostLeaseEndsAnAllocationThatMayTakeLong() throws Exception {
        boasting = true;
        server.close();
        server = LeasedServer.attach(
                control.address(),
                0,
                domain,
                "test",
                ControlPlane.NO_CACHE,
                SignedGrant.NONE,
                (_, cause) -> lost.complete(cause),
                ignored -> {});
        hanging = "allocate";
        CompletableFuture<List<RemoteRegion>> allocation = CompletableFuture.supplyAsync(() -> server.allocate(1));
        assertTrue(stuck.tryAcquire(PATIENCE_SECONDS, TimeUnit.SECONDS));
        refusing = true;
        assertEquals(
                Code.LEASE_EXPIRED, lost.get(PATIENCE_SECONDS, TimeUnit.SECONDS).code());
        ExecutionException e =
                assertThrows(ExecutionException.class, () -> allocation.get(PATIENCE_SECONDS, TimeUnit.SECONDS));
        assertEquals(
                Code.UNAVAILABLE,
                assertInstanceOf(ControlException.class, e.getCause()).code());
        assertEquals(
                Code.UNAVAILABLE,
                assertThrows(ControlException.class, () -> server.allocate(1)).code());
    }
}
