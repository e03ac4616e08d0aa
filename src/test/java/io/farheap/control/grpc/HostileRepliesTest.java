package io.farheap.control.grpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import io.farheap.control.ControlException;
import io.farheap.control.ControlException.Code;
import io.farheap.control.plane.ControlPlane;
import io.farheap.control.plane.PullPace;
import io.farheap.control.plane.RebuildPlan;
import io.farheap.control.plane.RingRequest;
import io.farheap.control.plane.WatermarkEndpoint;
import io.farheap.control.wire.AllocateReply;
import io.farheap.control.wire.ConnectReply;
import io.farheap.control.wire.ConnectRingReply;
import io.farheap.control.wire.DescribeReply;
import io.farheap.control.wire.DescribedLease;
import io.farheap.control.wire.ExportReply;
import io.farheap.control.wire.Headroom;
import io.farheap.control.wire.HelloReply;
import io.farheap.control.wire.OpenLeaseReply;
import io.farheap.control.wire.OpenPullReply;
import io.farheap.control.wire.PreparePullReply;
import io.farheap.control.wire.PullReply;
import io.farheap.control.wire.QueuePairEndpoint;
import io.farheap.control.wire.Region;
import io.farheap.control.wire.ReportUseReply;
import io.farheap.verbs.Endpoint;
import io.grpc.Status;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A server sends arbitrary answers: each invalid one fails its call with a message that names the reason. */
class HostileRepliesTest {

    private static final long REGION = 1L << 20;
    private static final Endpoint END = InMemoryPlane.SERVER_END;
    private static final RingRequest RING = new RingRequest(END, 16, 64, 1, 4096, 1);
    private static final PullPace PACE = new PullPace(new WatermarkEndpoint(END, 4096, 1), 0, REGION, 1 << 16);

    private final HostileControl server = new HostileControl();
    private ControlClient client;

    @BeforeEach
    void connect() {
        server.hello = HelloReply.newBuilder()
                .setProtocolVersion(ControlPlane.PROTOCOL_VERSION)
                .setServerId(1)
                .setName("hostile")
                .setRegionBytes(REGION)
                .setTotalRegions(4)
                .setFreeRegions(4)
                .build();
        client = ControlClient.connect(server.address());
    }

    @AfterEach
    void close() {
        client.close();
        server.close();
    }

    private void refused(String why, Runnable call) {
        ControlException e = assertThrows(ControlException.class, call::run);
        assertEquals(Code.BAD_REPLY, e.code(), e::getMessage);
        assertTrue(e.getMessage().contains(server.address()) && e.getMessage().contains(why), e.getMessage());
    }

    private void refusedHello(String why, Consumer<HelloReply.Builder> change) {
        HelloReply.Builder reply = server.hello.toBuilder();
        change.accept(reply);
        server.hello = reply.build();
        refused(why, () -> ControlClient.connect(server.address()).close());
    }

    @ParameterizedTest
    @ValueSource(longs = {0, -1, Long.MIN_VALUE, 1, 4096, 100_000, 3 << 20, 1L << 43, 1L << 62})
    void regionsOfAStrangeSize(long bytes) {
        refusedHello("regions of " + bytes + " bytes", reply -> reply.setRegionBytes(bytes));
    }

    @ParameterizedTest
    @ValueSource(ints = {0, -1, Integer.MIN_VALUE, (1 << 20) + 1})
    void aStrangeNumberOfRegions(int regions) {
        refusedHello(regions + " regions", reply -> reply.setTotalRegions(regions));
    }

    @ParameterizedTest
    @ValueSource(ints = {-1, 5, Integer.MAX_VALUE})
    void moreFreeRegionsThanThereAre(int free) {
        refusedHello(free + " free regions", reply -> reply.setFreeRegions(free));
    }

    private String nameFor(String told) {
        server.hello = server.hello.toBuilder().setName(told).build();
        try (ControlClient named = ControlClient.connect(server.address())) {
            return named.server().name();
        }
    }

    @Test
    void aNameThatATerminalWouldObeyIsEscaped() {
        assertEquals("good\\u001b[2Jevil", nameFor("good\u001b[2Jevil"));
    }

    @Test
    void aNameWithoutEndIsCut() {
        assertEquals("x".repeat(256), nameFor("x".repeat(256)));
        assertEquals("x".repeat(256) + "...", nameFor("x".repeat(2000)));
    }

    @Test
    void aFailureDomainWithoutEnd() {
        refusedHello("a failure domain of 257 characters", reply -> reply.setDomain("x".repeat(257)));
    }

    @Test
    void aFailureDomainThatATerminalWouldObey() {
        refusedHello("a failure domain with U+001B at place 3", reply -> reply.setDomain("row\u001b[2J"));
    }

    /** Servers of an earlier release send no failure domain. */
    @Test
    void noFailureDomain() {
        assertEquals("", client.server().domain());
    }

    @Test
    void anotherVersionThanWasAskedFor() {
        refusedHello("version 1", reply -> reply.setProtocolVersion(1));
    }

    @ParameterizedTest
    @ValueSource(longs = {0, -1, Long.MIN_VALUE, 1, 999_999, 86_400_000_000_001L, Long.MAX_VALUE})
    void aLeaseThatNobodyCanKeep(long nanos) {
        server.lease = OpenLeaseReply.newBuilder()
                .setLeaseId(7)
                .setDurationNanos(nanos)
                .build();
        refused("a lease of " + nanos + " ns", () -> client.openLease("c"));
    }

    @Test
    void regionsThatNobodyHasWantedBack() {
        server.wanted = ReportUseReply.newBuilder().addWanted(4).build();
        refused("region 4", () -> client.reportUse(7, List.of()));
        server.wanted = ReportUseReply.newBuilder().addWanted(-1).build();
        refused("region 4294967295", () -> client.reportUse(7, List.of()));
        server.wanted = ReportUseReply.newBuilder().setAgainNanos(-1).build();
        refused("wanted again after", () -> client.reportUse(7, List.of()));
        server.wanted = ReportUseReply.newBuilder()
                .addAllWanted(Collections.nCopies(ControlPlane.MAX_REPORTED + 1, 0))
                .build();
        refused("129 regions wanted back", () -> client.reportUse(7, List.of()));
    }

    @Test
    void aStatusThatNoServerHas() {
        refusedStatus("5 withdrawn regions of 4", reply -> reply.setWithdrawnRegions(5));
        refusedStatus("shared spaces", reply -> reply.setSpaces(-1));
        refusedStatus(
                "regions of a lease",
                reply -> reply.addLeases(DescribedLease.newBuilder().setRegions(-1)));
        refusedStatus(
                "a headroom of 101%",
                reply -> reply.setHeadroom(Headroom.newBuilder().setPercent(101)));
        refusedStatus("version 0", DescribeReply.Builder::clearServer);
    }

    private void refusedStatus(String why, Consumer<DescribeReply.Builder> change) {
        DescribeReply.Builder reply = DescribeReply.newBuilder().setServer(server.hello);
        change.accept(reply);
        server.described = reply.build();
        refused(why, client::describe);
    }

    private static QueuePairEndpoint.Builder end() {
        return ControlMessages.message(END).toBuilder();
    }

    @Test
    void endpointsThatAreNone() {
        List<QueuePairEndpoint> bad = List.of(
                QueuePairEndpoint.getDefaultInstance(),
                end().setQueuePairNumber(1 << 24).build(),
                end().setQueuePairNumber(-1).build(),
                end().setPacketSequenceNumber(1 << 24).build(),
                end().setLid(1 << 16).build(),
                end().setGid(ByteString.copyFrom(new byte[15])).build(),
                end().setGids(ByteString.copyFrom(new byte[19])).build(),
                end().setPeerGid(ByteString.copyFrom(new byte[16])).build(),
                end().setPathMtu(0).build(),
                end().setPathMtu(6).build(),
                end().setInitiatorDepth(0).build(),
                end().setResponderResources(256).build());
        for (QueuePairEndpoint endpoint : bad) {
            server.connect = ConnectReply.newBuilder().setServer(endpoint).build();
            server.ring = ConnectRingReply.newBuilder()
                    .setServer(endpoint)
                    .setRingAddress(4096)
                    .build();
            server.opened = OpenPullReply.newBuilder()
                    .setSource(endpoint)
                    .setRemoteAddress(4096)
                    .setLength(REGION)
                    .build();
            server.prepared = PreparePullReply.newBuilder()
                    .setServer(mark(4096).toBuilder().setEndpoint(endpoint))
                    .build();
            refused("", () -> client.connect(7, END));
            refused("", () -> client.connectRing(7, RING));
            refused("", () -> client.openPull(new byte[16], END));
            refused("", () -> client.preparePull(7, 0, "h:1", new byte[16], PACE));
        }
    }

    @Test
    void aRingThatWrapsAround() {
        server.ring = ConnectRingReply.newBuilder()
                .setServer(end())
                .setRingAddress(-7)
                .build();
        refused("0xfffffffffffffff9", () -> client.connectRing(7, RING));
    }

    private static Region region(int id, long address, long length) {
        return Region.newBuilder()
                .setRegionId(id)
                .setRemoteAddress(address)
                .setRkey(9)
                .setLength(length)
                .build();
    }

    private void grants(Region... regions) {
        server.granted =
                AllocateReply.newBuilder().addAllRegions(List.of(regions)).build();
    }

    @Test
    void fewerGrantsThanAskedFor() {
        grants();
        refused("0 regions, asked for 2", () -> client.allocate(7, 2));
        grants(region(0, 0, REGION));
        refused("1 regions, asked for 2", () -> client.allocate(7, 2));
    }

    @Test
    void moreGrantsThanAskedFor() {
        grants(region(0, 0, REGION), region(1, REGION, REGION));
        refused("2 regions, asked for 1", () -> client.allocate(7, 1));
    }

    @Test
    void aRegionGrantedTwice() {
        grants(region(3, 0, REGION), region(3, REGION, REGION));
        refused("region 3 twice", () -> client.allocate(7, 2));
    }

    @ParameterizedTest
    @ValueSource(ints = {4, -1, Integer.MIN_VALUE, Integer.MAX_VALUE})
    void aRegionThatTheServerHasNot(int id) {
        grants(region(id, 0, REGION));
        refused("region " + Integer.toUnsignedString(id), () -> client.allocate(7, 1));
    }

    @ParameterizedTest
    @ValueSource(longs = {0, -1, REGION / 2, REGION * 2, Long.MAX_VALUE})
    void aRegionOfAnotherSize(long bytes) {
        grants(region(0, 0, bytes));
        refused("a region of " + bytes + " bytes", () -> client.allocate(7, 1));
    }

    @Test
    void aLargerAllocationMayTakeLonger() {
        server.hello = server.hello.toBuilder()
                .setRegionBytes(1L << 30)
                .setTotalRegions(1000)
                .build();
        grants();
        try (ControlClient large = ControlClient.connect(server.address())) {
            for (int regions : new int[] {100, 1000}) {
                refused("0 regions", () -> large.allocate(7, regions));
                long seconds = server.deadline.timeRemaining(TimeUnit.SECONDS);
                assertTrue(seconds > regions / 2, "for " + regions + " GiB: " + seconds + " s");
            }
        }
    }

    @Test
    void aRegionThatWrapsAround() {
        grants(region(0, -REGION + 1, REGION));
        refused("0xfffffffffff00001", () -> client.allocate(7, 1));
        grants(region(0, -REGION, REGION));
        assertEquals(1, client.allocate(7, 1).size(), "up to the very end is allowed");
    }

    private static ExportReply ticket(int bytes, long nanos) {
        return ExportReply.newBuilder()
                .setToken(ByteString.copyFrom(new byte[bytes]))
                .setValidNanos(nanos)
                .build();
    }

    @Test
    void ticketsThatAreNone() {
        for (int bytes : new int[] {0, 15, 17, 4096}) {
            server.exported = ticket(bytes, 1);
            refused("a token of " + bytes + " bytes", () -> client.export(7, 0));
        }
        for (long nanos : new long[] {0, -1, Long.MAX_VALUE}) {
            server.exported = ticket(16, nanos);
            refused("a ticket for " + nanos + " ns", () -> client.export(7, 0));
        }
    }

    @Test
    void sourcesOfAPullOutOfRange() {
        OpenPullReply good = OpenPullReply.newBuilder()
                .setSource(end())
                .setRemoteAddress(4096)
                .setLength(REGION)
                .build();
        server.opened = good.toBuilder().setLength(0).build();
        refused("a region of 0 bytes", () -> client.openPull(new byte[16], END));
        server.opened = good.toBuilder().setLength(-1).build();
        refused("a region of -1 bytes", () -> client.openPull(new byte[16], END));
        server.opened = good.toBuilder().setLength(REGION * 2).build();
        refused("a region of " + REGION * 2, () -> client.openPull(new byte[16], END));
        server.opened = good.toBuilder().setRemoteAddress(-4096).build();
        refused("0xfffffffffffff000", () -> client.openPull(new byte[16], END));
    }

    private static io.farheap.control.wire.Mark mark(long address) {
        return io.farheap.control.wire.Mark.newBuilder()
                .setEndpoint(end())
                .setRemoteAddress(address)
                .build();
    }

    @Test
    void marksOutOfRange() {
        for (long address : new long[] {-7, 4097, 4}) {
            server.prepared =
                    PreparePullReply.newBuilder().setServer(mark(address)).build();
            String wrong = "0x" + Long.toHexString(address);
            refused(wrong, () -> client.preparePull(7, 0, "h:1", new byte[16], PACE));
            refused(wrong, () -> client.prepareRebuild(7, 0, new RebuildPlan(1, 1, 0, List.of()), PACE));
        }
    }

    @Test
    void pullsThatCannotHaveBeen() {
        for (long bytes : new long[] {-1, Long.MIN_VALUE, REGION + 1}) {
            server.pulled = PullReply.newBuilder().setBytes(bytes).setNanos(1).build();
            refused(bytes + " bytes", () -> client.pull(7, 0, "h:1", new byte[16]));
        }
        server.pulled = PullReply.newBuilder().setBytes(1).setNanos(-1).build();
        refused("-1 ns", () -> client.pull(7, 0, "h:1", new byte[16]));
    }

    @Test
    void aReasonThatATerminalWouldObey() {
        server.refusal = Status.NOT_FOUND.withDescription("a\r\n\u001b[31mb" + "c".repeat(5000));
        ControlException e = assertThrows(ControlException.class, () -> client.renewLease(7));
        assertEquals(Code.NOT_FOUND, e.code());
        assertFalse(e.getMessage().chars().anyMatch(Character::isISOControl), e.getMessage());
        assertTrue(e.getMessage().contains("a\\u000d\\u000a\\u001b[31mb"), e.getMessage());
        assertTrue(e.getMessage().length() < 2000, e.getMessage());
    }
}
