package io.farheap.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.control.ControlException;
import io.farheap.control.ControlException.Code;
import io.farheap.control.RegionGrant;
import io.farheap.control.grpc.ControlClient;
import io.farheap.control.grpc.ControlServer;
import io.farheap.control.lease.LeaseKeeper;
import io.farheap.control.plane.ControlPlane;
import io.farheap.control.plane.PullResult;
import io.farheap.control.plane.PullSource;
import io.farheap.control.plane.Ticket;
import io.farheap.memory.SharedMemory;
import io.farheap.server.contract.ServerOptions;
import io.farheap.server.pull.RegionCopy;
import io.farheap.testing.ControlCable;
import io.farheap.testing.TestDevice;
import io.farheap.verbs.Context;
import io.farheap.verbs.Devices;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A region of one server, copied by another. */
class PullTest {

    private static final long REGION = 4 << 20;
    private static final long LEASE = 300_000_000_000L;
    private static final long TICKET = 30_000_000_000L;
    private static final long SHORT_TICKET = 50_000_000L;
    private static final long PULL = 60_000_000_000L;

    /** A server with its sockets and a client of it. */
    private static final class Site implements AutoCloseable {
        final ServerPlane server;
        final ControlServer control;
        final ControlClient plane;
        final TestClient client;
        final LeaseKeeper keeper;

        Site(long regionBytes, long ticketNanos) {
            this(regionBytes, ticketNanos, PULL);
        }

        Site(long regionBytes, long ticketNanos, long pullNanos) {
            server = ServerPlane.open(
                    new ServerOptions(regionBytes * 2, regionBytes, LEASE, TestDevice.server(), "site"),
                    ticketNanos,
                    pullNanos);
            control = ControlServer.start("127.0.0.1:0", server);
            plane = ControlClient.connect(control.address());
            client = new TestClient(plane);
            keeper = new LeaseKeeper(plane, client.lease, (lease, cause) -> {});
        }

        long lease() {
            return client.lease.id();
        }

        @Override
        public void close() {
            keeper.close();
            client.close();
            plane.close();
            control.close();
            server.close();
        }
    }

    private Site old;
    private Site fresh;
    private RegionGrant from;
    private RegionGrant to;

    @BeforeEach
    void start() {
        old = new Site(REGION, TICKET);
        fresh = new Site(REGION, TICKET);
        from = old.client.allocate();
        to = fresh.client.allocate();
        old.client.fill(from, 1);
    }

    @AfterEach
    void stop() {
        fresh.close();
        old.close();
    }

    private PullResult pull(byte[] token) {
        return fresh.plane.pull(fresh.lease(), to.regionId(), old.control.address(), token);
    }

    private byte[] export() {
        return old.plane.export(old.lease(), from.regionId()).token();
    }

    private static ControlException refused(Runnable call) {
        return assertThrows(ControlException.class, call::run);
    }

    @Test
    void everyByteArrivesAndTheSourceStays() {
        PullResult result = pull(export());

        assertEquals(REGION, result.bytes());
        assertTrue(result.nanos() > 0);
        fresh.client.assertFilled(to, 1);
        old.client.assertFilled(from, 1);
    }

    @Test
    void aPreparedPullEndsWithItsRegionAndLeavesItZeroed() {
        byte[] token = export();
        try (PullLeader first = new PullLeader();
                PullLeader second = new PullLeader()) {
            first.prepare(fresh.plane, fresh.lease(), to, old.control.address(), token, 0, REGION);
            second.prepare(fresh.plane, fresh.lease(), to, old.control.address(), export(), 0, REGION);
            fresh.plane.release(fresh.lease(), to.regionId());
        }
        to = fresh.client.allocate();
        fresh.client.assertZero(to);
        assertEquals(Code.TICKET_REFUSED, refused(() -> pull(token)).code());
        pull(export());
        fresh.client.assertFilled(to, 1);
    }

    @Test
    void aPullWithinOneServerWorksToo() {
        RegionGrant other = old.client.allocate();
        old.plane.pull(old.lease(), other.regionId(), old.control.address(), export());
        old.client.assertFilled(other, 1);
    }

    @Test
    void aRegionCanBePulledAgain() {
        pull(export());
        old.client.fill(from, 2);
        pull(export());
        fresh.client.assertFilled(to, 2);
    }

    @Test
    void aTicketWorksOnce() {
        byte[] token = export();
        pull(token);
        assertEquals(Code.TICKET_REFUSED, refused(() -> pull(token)).code());
    }

    @Test
    void aNewTicketVoidsTheOlder() {
        byte[] older = export();
        byte[] newer = export();
        assertEquals(Code.TICKET_REFUSED, refused(() -> pull(older)).code());
        assertEquals(REGION, pull(newer).bytes());
    }

    @Test
    void aTicketThatComesTooLateIsRefused() throws Exception {
        try (Site hasty = new Site(REGION, SHORT_TICKET)) {
            Ticket ticket =
                    hasty.plane.export(hasty.lease(), hasty.client.allocate().regionId());
            assertEquals(SHORT_TICKET, ticket.validNanos());
            Thread.sleep(100);
            ControlException e = refused(
                    () -> fresh.plane.pull(fresh.lease(), to.regionId(), hasty.control.address(), ticket.token()));
            assertEquals(Code.TICKET_REFUSED, e.code());
            assertTrue(e.getMessage().contains("50 ms"), e.getMessage());
        }
    }

    /** No client begins the pull: its resources are given back, and a client that comes too late is refused. */
    @Test
    void aPreparedPullThatIsNotBegunEnds() throws Exception {
        try (Site hasty = new Site(REGION, TICKET, 1);
                PullLeader leader = new PullLeader()) {
            RegionGrant into = hasty.client.allocate();
            byte[] token = export();
            leader.prepare(hasty.plane, hasty.lease(), into, old.control.address(), token, 0, REGION);
            long start = System.nanoTime();
            while (hasty.server.budgets().pulls().lent() > 0) {
                assertTrue(System.nanoTime() - start < 30_000_000_000L, "the pull is still there");
                Thread.sleep(10);
            }
            ControlException e =
                    refused(() -> hasty.plane.pull(hasty.lease(), into.regionId(), old.control.address(), token));
            assertEquals(Code.TICKET_REFUSED, e.code());
            assertTrue(e.getMessage().contains("not begun in time"), e.getMessage());
            hasty.plane.pull(hasty.lease(), into.regionId(), old.control.address(), export());
            hasty.client.assertFilled(into, 1);
        }
    }

    @Test
    void aTicketDiesWithItsRegionAndWithItsLease() {
        byte[] released = export();
        old.plane.release(old.lease(), from.regionId());
        assertEquals(Code.TICKET_REFUSED, refused(() -> pull(released)).code());

        from = old.client.allocate();
        byte[] closed = export();
        old.plane.closeLease(old.lease());
        assertEquals(Code.TICKET_REFUSED, refused(() -> pull(closed)).code());
    }

    @Test
    void aPullThatFailsLeavesBothServersWhole() {
        assertEquals(
                Code.TICKET_REFUSED,
                refused(() -> pull(new byte[ControlPlane.TOKEN_BYTES])).code());
        byte[] token = export();
        assertEquals(
                Code.NOT_FOUND,
                refused(() -> fresh.plane.pull(fresh.lease(), to.regionId() + 1, old.control.address(), token))
                        .code());
        assertEquals(
                Code.LEASE_EXPIRED,
                refused(() -> fresh.plane.pull(fresh.lease() + 1, to.regionId(), old.control.address(), token))
                        .code());
        assertEquals(
                Code.INVALID_ARGUMENT,
                refused(() -> fresh.plane.pull(fresh.lease(), to.regionId(), "nonsense", token))
                        .code());
        ControlException unreachable =
                refused(() -> fresh.plane.pull(fresh.lease(), to.regionId(), "127.0.0.1:1", token));
        assertEquals(Code.PULL_FAILED, unreachable.code());
        assertTrue(unreachable.getMessage().contains("127.0.0.1:1"), unreachable.getMessage());

        assertEquals(REGION, pull(token).bytes());
        fresh.client.assertFilled(to, 1);
    }

    @Test
    void serversOfDifferentRegionSizesCannotCopy() {
        try (Site small = new Site(REGION / 2, TICKET)) {
            RegionGrant half = small.client.allocate();
            byte[] token = export();
            ControlException e =
                    refused(() -> small.plane.pull(small.lease(), half.regionId(), old.control.address(), token));
            assertEquals(Code.PULL_FAILED, e.code());
            assertTrue(e.getMessage().contains(Long.toString(REGION)), e.getMessage());
        }
    }

    @Test
    void givingTheRegionBackEndsThePullThatReadsIt() {
        try (Context context = Devices.open("");
                SharedMemory into = SharedMemory.allocate("test-copy", REGION);
                RegionCopy copy = new RegionCopy(context, into.segment())) {
            PullSource source = old.plane.openPull(export(), copy.endpoint(0));
            copy.connect(0, source);
            old.plane.release(old.lease(), from.regionId());

            assertEquals(Code.PULL_FAILED, refused(() -> copy.run(null)).code());
            old.plane.closePull(source.pullId());
        }
    }

    @Test
    void anEndedPullCanReadNoMore() {
        try (Context context = Devices.open("");
                SharedMemory into = SharedMemory.allocate("test-copy", REGION);
                RegionCopy copy = new RegionCopy(context, into.segment())) {
            PullSource source = old.plane.openPull(export(), copy.endpoint(0));
            copy.connect(0, source);
            old.plane.closePull(source.pullId());
            old.plane.closePull(source.pullId());

            assertEquals(Code.PULL_FAILED, refused(() -> copy.run(null)).code());
        }
    }

    /** Lets this number of attempts to close retired resources fail. */
    private void busyFor(int tries) {
        if (tries > 0) {
            old.server.retired().fault.set(() -> {
                busyFor(tries - 1);
                throw new OutOfMemoryError("injected");
            });
        }
    }

    /** The device is busy, as with a reader that has lost its core during a copy. */
    @Test
    void theNextPullWaitsForOneThatTheDeviceIsBusyWith() {
        try (Context context = Devices.open("");
                SharedMemory into = SharedMemory.allocate("test-copy", REGION);
                RegionCopy copy = new RegionCopy(context, into.segment())) {
            PullSource source = old.plane.openPull(export(), copy.endpoint(0));
            busyFor(4);
            old.plane.closePull(source.pullId());
            pull(export());
            fresh.client.assertFilled(to, 1);
        }
    }

    /**
     * A call that its client has given up may end after the client has prepared the region again, which it may have
     * given back and received again meanwhile: the newer prepared pull must stay ready.
     */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aPullThatIsPreparedTooLateReplacesNoneThatWasPreparedAfterIt(boolean anew) throws Exception {
        RegionGrant other = old.client.allocate();
        old.client.fill(other, 2);
        byte[] late = export();
        try (ControlCable cable = new ControlCable(old.control.address());
                PullLeader first = new PullLeader();
                PullLeader second = new PullLeader()) {
            cable.cut();
            CompletableFuture<Void> tooLate = CompletableFuture.runAsync(
                    () -> first.prepare(fresh.plane, fresh.lease(), to, cable.address(), late, 0, REGION));
            awaitPullsLent(1);
            regrant(anew);
            byte[] token = old.plane.export(old.lease(), other.regionId()).token();
            second.prepare(fresh.plane, fresh.lease(), to, old.control.address(), token, 0, REGION);
            cable.mend();
            tooLate.handle((_, _) -> null).get();
            second.clear(REGION);
            assertEquals(REGION, pull(token).bytes());
            assertTrue(tooLate.isCompletedExceptionally());
        }
        fresh.client.assertFilled(to, 2);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aPullThatComesTooLateFillsNoRegionThatWasPulledAfterIt(boolean anew) throws Exception {
        RegionGrant other = old.client.allocate();
        old.client.fill(other, 2);
        byte[] late = export();
        try (ControlCable cable = new ControlCable(old.control.address())) {
            cable.cut();
            CompletableFuture<PullResult> tooLate = CompletableFuture.supplyAsync(
                    () -> fresh.plane.pull(fresh.lease(), to.regionId(), cable.address(), late));
            awaitPullsLent(1);
            regrant(anew);
            pull(old.plane.export(old.lease(), other.regionId()).token());
            cable.mend();
            tooLate.handle((_, _) -> null).get();
            assertTrue(tooLate.isCompletedExceptionally());
        }
        fresh.client.assertFilled(to, 2);
    }

    private static void await(BooleanSupplier condition) throws InterruptedException {
        long start = System.nanoTime();
        while (!condition.getAsBoolean()) {
            assertTrue(System.nanoTime() - start < 60_000_000_000L, "this does not come about");
            Thread.sleep(1);
        }
    }

    private void awaitPullsLent(int number) throws InterruptedException {
        await(() -> fresh.server.budgets().pulls().lent() == number);
    }

    /** @param anew whether the client gives the region that the pull fills back and receives it again */
    private void regrant(boolean anew) {
        if (anew) {
            fresh.plane.release(fresh.lease(), to.regionId());
            int before = to.regionId();
            to = fresh.client.allocate();
            assertEquals(before, to.regionId());
        }
    }

    /** The pull waits for a reader that keeps the device busy, while its client exports the region again. */
    @Test
    void aTicketThatIsReplacedWhileItsPullWaitsIsRefused() throws Exception {
        AtomicBoolean ended = new AtomicBoolean();
        old.server.retired().patienceNanos = TestDevice.patience(60_000_000_000L);
        try (Context context = Devices.open("");
                SharedMemory into = SharedMemory.allocate("test-copy", REGION);
                RegionCopy before = new RegionCopy(context, into.segment());
                RegionCopy older = new RegionCopy(context, into.segment());
                RegionCopy newer = new RegionCopy(context, into.segment())) {
            PullSource source = old.plane.openPull(export(), before.endpoint(0));
            busyUntil(ended);
            old.plane.closePull(source.pullId());
            byte[] olderToken = export();
            FutureTask<PullSource> waits = new FutureTask<>(() -> old.server.openPull(olderToken, older.endpoint(0)));
            Thread thread = Thread.ofPlatform().start(waits);
            await(() -> thread.getState() == Thread.State.TIMED_WAITING);
            byte[] newerToken = old.server.export(old.lease(), from.regionId()).token();
            ended.set(true);
            PullSource latest = old.plane.openPull(newerToken, newer.endpoint(0));
            Throwable refused =
                    assertThrows(ExecutionException.class, waits::get).getCause();
            assertEquals(
                    Code.TICKET_REFUSED,
                    assertInstanceOf(ControlException.class, refused).code());
            newer.connect(0, latest);
            assertEquals(REGION, newer.run(null).bytes());
            old.plane.closePull(latest.pullId());
        }
    }

    private void busyUntil(AtomicBoolean ended) {
        old.server.retired().fault.set(() -> {
            if (!ended.get()) {
                busyUntil(ended);
                throw new OutOfMemoryError("injected");
            }
        });
    }

    /** Whenever the lease ends during the pull, the pull writes nothing to the region once that is granted again. */
    @Test
    void aLeaseThatEndsDuringAPullLeavesNothingBehind() throws Exception {
        for (int delayMicros = 0; delayMicros < 20_000; delayMicros += (int) TestDevice.patience(1_000)) {
            byte[] token = export();
            long lease = fresh.plane.openLease("short").id();
            int region = fresh.plane.allocate(lease, 1).getFirst().regionId();
            CompletableFuture<PullResult> pull =
                    CompletableFuture.supplyAsync(() -> fresh.plane.pull(lease, region, old.control.address(), token));
            LockSupport.parkNanos(delayMicros * 1_000L);
            fresh.plane.closeLease(lease);
            // A copy that gets no core for a moment keeps its region for that much longer.
            long start = System.nanoTime();
            while (fresh.server.hello(ControlPlane.PROTOCOL_VERSION).freeRegions() == 0) {
                assertTrue(System.nanoTime() - start < 30_000_000_000L, "the region stays withdrawn");
                Thread.sleep(1);
            }

            RegionGrant again = fresh.client.allocate();
            assertEquals(region, again.regionId());
            fresh.client.assertZero(again);
            Code ended = pull.handle((result, e) -> e == null ? null : ((ControlException) e.getCause()).code())
                    .get();
            assertTrue(
                    ended == null || ended == Code.PULL_FAILED || ended == Code.LEASE_EXPIRED, "ended with " + ended);
            fresh.client.assertZero(again);
            fresh.plane.release(fresh.lease(), again.regionId());
        }
    }
}
