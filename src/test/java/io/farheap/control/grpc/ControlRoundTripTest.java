package io.farheap.control.grpc;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.control.ControlException;
import io.farheap.control.ControlException.Code;
import io.farheap.control.RegionGrant;
import io.farheap.control.ServerDescription;
import io.farheap.control.plane.ConnectedQueuePair;
import io.farheap.control.plane.ConnectedRing;
import io.farheap.control.plane.ControlPlane;
import io.farheap.control.plane.Lease;
import io.farheap.control.plane.PullPace;
import io.farheap.control.plane.PullResult;
import io.farheap.control.plane.PullSource;
import io.farheap.control.plane.RebuildPlan;
import io.farheap.control.plane.RegionUse;
import io.farheap.control.plane.RingRequest;
import io.farheap.control.plane.Ticket;
import io.farheap.control.plane.WantedRegions;
import io.farheap.control.plane.WatermarkEndpoint;
import io.farheap.verbs.Endpoint;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The server receives each call's arguments as the client gave them, and the client its result, over real sockets. */
class ControlRoundTripTest {

    private static final long LEASE = Long.MIN_VALUE + 1;

    private final InMemoryPlane plane = new InMemoryPlane();
    private ControlServer server;
    private ControlClient client;

    @BeforeEach
    void start() {
        server = ControlServer.start("127.0.0.1:0", plane);
        client = ControlClient.connect(server.address());
    }

    @AfterEach
    void stop() {
        plane.pullMayEnd.countDown();
        client.close();
        server.close();
    }

    private Object lastCall() {
        return plane.calls.getLast();
    }

    @Test
    void connectingSaysHelloFirst() {
        assertEquals(List.of(List.of("hello", ControlPlane.PROTOCOL_VERSION)), plane.calls);
        assertEquals(
                new ServerDescription(-7L, "in memory", "räck 7", ControlPlane.PROTOCOL_VERSION, 1L << 30, 16, 9),
                client.server());
    }

    @Test
    void everyCallCarriesItsValuesBothWays() {
        Endpoint end = new Endpoint(0xABCDEF, 0xFFFFFF, 7, InMemoryPlane.gid(0xF0), 1, 1, 255);

        assertEquals(new Lease(LEASE, plane.leaseNanos), client.openLease("tést"));
        assertEquals(List.of("openLease", "tést"), lastCall());
        client.renewLease(LEASE);
        assertEquals(List.of("renewLease", LEASE), lastCall());
        client.closeLease(LEASE);
        assertEquals(List.of("closeLease", LEASE), lastCall());

        ConnectedQueuePair connected = client.connect(LEASE, end);
        assertEquals(List.of("connect", LEASE, end.toString()), lastCall());
        assertEquals(-2L, connected.connectionId());
        assertSameEnd(connected.server());
        client.disconnect(LEASE, -2L);
        assertEquals(List.of("disconnect", LEASE, -2L), lastCall());

        ConnectedRing ring = client.connectRing(LEASE, new RingRequest(end, 16, 64, 3, -16L, -17));
        assertEquals(List.of("connectRing", LEASE, end.toString(), 16, 64, 3, -16L, -17), lastCall());
        assertEquals(-4L, ring.connectionId());
        assertSameEnd(ring.server());
        assertEquals(-8192L, ring.ringAddress());
        assertEquals(-9, ring.ringKey());

        List<RegionGrant> grants = client.allocate(LEASE, 2, -11L);
        assertEquals(List.of("allocate", LEASE, 2, -11L), lastCall());
        assertEquals(
                List.of(
                        new RegionGrant(0, 0xFFFF_FFFF_0000_0000L, 0x8000_0000, 1L << 30),
                        new RegionGrant(1, 0xFFFF_FFFF_0000_0001L, 0x8000_0001, 1L << 30)),
                grants);
        client.release(LEASE, 1, -11L);
        assertEquals(List.of("release", LEASE, 1, -11L), lastCall());
        client.release(LEASE, 1);
        assertEquals(List.of("release", LEASE, 1, ControlPlane.ANY_ALLOCATION), lastCall());
        client.abandon(LEASE, -11L);
        assertEquals(List.of("abandon", LEASE, -11L), lastCall());

        Ticket ticket = client.export(LEASE, 3);
        assertEquals(List.of("export", LEASE, 3), lastCall());
        assertArrayEquals(InMemoryPlane.gid(1), ticket.token());
        assertEquals(30_000_000_000L, ticket.validNanos());

        PullSource source = client.openPull(ticket.token(), end);
        assertEquals(List.of("openPull", 16, end.toString()), lastCall());
        assertEquals(-3L, source.pullId());
        assertSameEnd(source.source());
        assertEquals(-1L << 30, source.remoteAddress());
        assertEquals(-5, source.rkey());
        assertEquals(1L << 30, source.length());
        client.closePull(-3L);
        assertEquals(List.of("closePull", -3L), lastCall());

        PullPace pace = new PullPace(new WatermarkEndpoint(end, -64L, -6), 1L << 33, 1L << 34, 1 << 20);
        WatermarkEndpoint mark = client.preparePull(LEASE, 3, "10.0.0.7:7400", ticket.token(), pace);
        assertEquals(
                List.of(
                        "preparePull",
                        LEASE,
                        3,
                        "10.0.0.7:7400",
                        16,
                        end.toString(),
                        -64L,
                        -6,
                        1L << 33,
                        1L << 34,
                        1 << 20),
                lastCall());
        assertSameEnd(mark.endpoint());
        assertEquals(-8L, mark.remoteAddress());
        assertEquals(-9, mark.rkey());
        RebuildPlan plan = new RebuildPlan(
                8,
                2,
                9,
                List.of(
                        new RebuildPlan.Source(0, "h:1", new byte[16]),
                        new RebuildPlan.Source(8, "h:2", new byte[16])));
        assertEquals(-16L, client.prepareRebuild(LEASE, 3, plan, pace).remoteAddress());
        assertEquals(
                List.of(
                        "prepareRebuild",
                        LEASE,
                        3,
                        8,
                        2,
                        9,
                        "[split 0 of h:1, split 8 of h:2]",
                        -64L,
                        1L << 33,
                        1L << 34,
                        1 << 20),
                lastCall());
        List<RegionUse> uses = List.of(new RegionUse(1, 1L << 40), new RegionUse(0, 0));
        assertEquals(new WantedRegions(List.of(1, 0), 7), client.reportUse(LEASE, uses));
        assertEquals(List.of("reportUse", LEASE, uses), lastCall());
        assertEquals(InMemoryPlane.STATUS, client.describe());
        assertEquals(List.of("describe"), lastCall());

        plane.pullMayEnd.countDown();
        assertEquals(new PullResult(1L << 30, 123), client.pull(LEASE, 3, "10.0.0.7:7400", ticket.token()));
        assertEquals(List.of("pull", LEASE, 3, "10.0.0.7:7400", 16), lastCall());
    }

    private static void assertSameEnd(Endpoint end) {
        assertEquals(InMemoryPlane.SERVER_END.toString(), end.toString());
        assertEquals(InMemoryPlane.SERVER_END.pathMtu(), end.pathMtu());
        assertEquals(InMemoryPlane.SERVER_END.packetSequenceNumber(), end.packetSequenceNumber());
        assertEquals(InMemoryPlane.SERVER_END.initiatorDepth(), end.initiatorDepth());
        assertEquals(InMemoryPlane.SERVER_END.responderResources(), end.responderResources());
        assertEquals(InMemoryPlane.SERVER_END.softverbsUser(), end.softverbsUser());
        assertEquals(InMemoryPlane.SERVER_END.softverbsHost(), end.softverbsHost());
        assertArrayEquals(InMemoryPlane.SERVER_END.gids(), end.gids());
        assertArrayEquals(InMemoryPlane.SERVER_END.peerGid(), end.peerGid());
    }

    /** An older peer does not know the lists of GIDs: it tells one GID, and reads one. */
    @Test
    void anOlderPeersEndHasOneGid() {
        Endpoint end = ControlMessages.read(ControlMessages.message(InMemoryPlane.SERVER_END).toBuilder()
                .clearGids()
                .clearPeerGid()
                .build());
        assertArrayEquals(InMemoryPlane.SERVER_END.gid(), end.gid());
        assertEquals(0, end.gids().length);
        assertEquals(0, end.peerGid().length);
    }

    @ParameterizedTest
    @EnumSource
    void everyCodeArrivesWithItsMessageAndTheServersAddress(Code code) {
        plane.failWith = new ControlException(code, "because of that");

        ControlException e = assertThrows(ControlException.class, () -> client.allocate(LEASE, 1));

        assertEquals(code, e.code());
        assertTrue(e.getMessage().contains(server.address()), e.getMessage());
        if (code != Code.DEADLINE_EXCEEDED) {
            assertTrue(e.getMessage().contains("because of that"), e.getMessage());
        }
    }

    @Test
    void aDefectOfTheServerIsInternalAndTheServerGoesOn() {
        plane.failWith = new NullPointerException("ouch");
        Logger log = Logger.getLogger(CancellableCall.class.getName());
        log.setLevel(Level.OFF);
        ControlException e = assertThrows(ControlException.class, () -> client.openLease("c"));
        log.setLevel(null);
        assertEquals(Code.INTERNAL, e.code());
        assertTrue(e.getMessage().contains("ouch"), e.getMessage());

        plane.failWith = null;
        assertEquals(LEASE, client.openLease("c").id());
    }

    @Test
    void anotherProtocolVersionIsRefused() {
        ControlException e = assertThrows(ControlException.class, () -> client.hello(99));

        assertEquals(Code.PROTOCOL_MISMATCH, e.code());
        assertTrue(e.getMessage().contains("99"), e.getMessage());
    }

    @Test
    void aLongPullHoldsUpNobody() throws Exception {
        CompletableFuture<PullResult> pull =
                CompletableFuture.supplyAsync(() -> client.pull(LEASE, 1, "h:1", new byte[16]));
        assertTrue(plane.pullHasBegun.await(60, TimeUnit.SECONDS));

        client.renewLease(LEASE);

        plane.pullMayEnd.countDown();
        assertEquals(1L << 30, pull.get(60, TimeUnit.SECONDS).bytes());
    }

    @Test
    void closingTheClientAbandonsItsCalls() throws Exception {
        CompletableFuture<PullResult> pull =
                CompletableFuture.supplyAsync(() -> client.pull(LEASE, 1, "h:1", new byte[16]));
        assertTrue(plane.pullHasBegun.await(60, TimeUnit.SECONDS));

        client.close();

        ExecutionException e = assertThrows(ExecutionException.class, () -> pull.get(60, TimeUnit.SECONDS));
        assertEquals(
                Code.CANCELLED,
                assertInstanceOf(ControlException.class, e.getCause()).code());
        ControlException later = assertThrows(ControlException.class, () -> client.renewLease(LEASE));
        assertEquals(Code.CANCELLED, later.code());
    }

    @Test
    void anInterruptEndsACallAndStaysSet() throws Exception {
        Thread caller = Thread.currentThread();
        Thread.ofPlatform().daemon().start(() -> {
            try {
                plane.pullHasBegun.await();
            } catch (InterruptedException e) {
                return;
            }
            caller.interrupt();
        });

        ControlException e = assertThrows(ControlException.class, () -> client.pull(LEASE, 1, "h:1", new byte[16]));

        assertTrue(Thread.interrupted());
        assertEquals(Code.CANCELLED, e.code());
    }
}
