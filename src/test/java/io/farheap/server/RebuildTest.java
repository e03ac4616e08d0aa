package io.farheap.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.coding.Coder;
import io.farheap.coding.ErasureCode;
import io.farheap.control.ControlException;
import io.farheap.control.ControlException.Code;
import io.farheap.control.RegionGrant;
import io.farheap.control.grpc.ControlClient;
import io.farheap.control.grpc.ControlServer;
import io.farheap.control.lease.LeaseKeeper;
import io.farheap.control.plane.PullPace;
import io.farheap.control.plane.PullResult;
import io.farheap.control.plane.RebuildPlan;
import io.farheap.server.contract.ServerOptions;
import io.farheap.testing.TestDevice;
import io.farheap.verbs.WcStatus;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A region that its server computes from other servers' splits, at its client's pace. */
class RebuildTest {

    private static final int REGION = 1 << 20;
    private static final long HALF = REGION / 2;
    private static final long LEASE = 300_000_000_000L;
    private static final int DATA = 3;
    private static final int PARITY = 2;
    private static final int SPLITS = DATA + PARITY;
    private static final int PAGE = TestClient.PAGE;

    private final ErasureCode code = ErasureCode.of(DATA, PARITY);
    /** The content of each split, by number. */
    private final List<MemorySegment> contents = new ArrayList<>();

    private final List<RegionGrant> regions = new ArrayList<>();
    private ServerPlane server;
    private ControlServer control;
    private ControlClient plane;
    private TestClient client;
    private LeaseKeeper keeper;
    private RegionGrant into;
    private PullLeader leader;
    private RebuildPlan plan;

    @BeforeEach
    void start() {
        server = ServerPlane.open(
                new ServerOptions((SPLITS + 1) * (long) REGION, REGION, LEASE, TestDevice.server(), "rebuild"));
        control = ControlServer.start("127.0.0.1:0", server);
        plane = ControlClient.connect(control.address());
        client = new TestClient(plane);
        keeper = new LeaseKeeper(plane, client.lease, (lease, cause) -> {});
        into = client.allocate();
        leader = new PullLeader();
        encode();
        contents.forEach(content -> {
            regions.add(client.allocate());
            write(regions.getLast(), content, 0, REGION);
        });
    }

    @AfterEach
    void stop() {
        leader.close();
        keeper.close();
        client.close();
        plane.close();
        control.close();
        server.close();
    }

    private void encode() {
        long[] addresses = new long[SPLITS];
        for (int split = 0; split < SPLITS; split++) {
            MemorySegment content = Arena.ofAuto().allocate(REGION, 64);
            for (int i = 0; split < DATA && i < REGION; i += 8) {
                content.set(ValueLayout.JAVA_LONG, i, (i + 1L) * (split + 3) * 0x9E3779B97F4A7C15L);
            }
            contents.add(content);
            addresses[split] = content.address();
        }
        try (Coder coder = new Coder(code)) {
            coder.encode(addresses, REGION);
        }
    }

    private void write(RegionGrant region, MemorySegment content, long from, long to) {
        for (long at = from; at < to; at += PAGE) {
            MemorySegment.copy(content, at, client.page(), 0, PAGE);
            assertEquals(WcStatus.SUCCESS, client.write(region, at));
        }
    }

    private void assertMade(int split, long from, long to) {
        for (long at = from; at < to; at += PAGE) {
            assertEquals(WcStatus.SUCCESS, client.read(into, at));
            assertEquals(-1, client.page().mismatch(contents.get(split).asSlice(at, PAGE)), "at " + at);
        }
    }

    private RebuildPlan plan(int split, int... sources) {
        List<RebuildPlan.Source> from = new ArrayList<>();
        for (int source : sources) {
            byte[] token = plane.export(client.lease.id(), regions.get(source).regionId())
                    .token();
            from.add(new RebuildPlan.Source(source, control.address(), token));
        }
        return new RebuildPlan(DATA, PARITY, split, from);
    }

    private void prepare(RebuildPlan wanted, long offset, long end) {
        plan = wanted;
        leader.prepare(plane, client.lease.id(), into, wanted, offset, end);
    }

    private CompletableFuture<PullResult> begin(RebuildPlan wanted, long offset, long end) {
        prepare(wanted, offset, end);
        byte[] token = plan.sources().getFirst().token();
        CompletableFuture<PullResult> pull = CompletableFuture.supplyAsync(
                () -> plane.pull(client.lease.id(), into.regionId(), control.address(), token));
        leader.awaitCopied(offset);
        return pull;
    }

    @ParameterizedTest
    @CsvSource({"0, 1 2 3", "1, 0 2 4", "2, 0 1 3 4", "3, 0 1 2", "4, 1 2 3", "4, 0 1 2 3"})
    void whatIsClearedIsMadeAndNothingElse(int split, String sources) {
        int[] from = Stream.of(sources.split(" ")).mapToInt(Integer::parseInt).toArray();
        CompletableFuture<PullResult> pull = begin(plan(split, from), 0, REGION);
        leader.clear(HALF);
        leader.awaitCopied(HALF);
        assertMade(split, 0, HALF);
        client.assertZero(into, HALF, REGION);
        leader.clear(HALF + 8);
        leader.awaitCopied(HALF + 8);
        leader.clear(REGION);
        assertEquals(REGION, pull.join().bytes());
        assertMade(split, 0, REGION);
    }

    @Test
    void onlyWhatIsAskedForIsMade() {
        CompletableFuture<PullResult> pull = begin(plan(0, 1, 2, 4), 3L * PAGE, 9L * PAGE);
        leader.clear(9L * PAGE);
        assertEquals(6L * PAGE, pull.join().bytes());
        client.assertZero(into, 0, 3L * PAGE);
        assertMade(0, 3L * PAGE, 9L * PAGE);
        client.assertZero(into, 9L * PAGE, REGION);
    }

    /** More splits are read than needed, and one has a wrong last byte: the server decodes nothing from there on. */
    @Test
    void splitsThatDisagreeAreNotDecoded() {
        contents.get(4)
                .set(ValueLayout.JAVA_BYTE, REGION - 1, (byte) ~contents.get(4).get(ValueLayout.JAVA_BYTE, REGION - 1));
        write(regions.get(4), contents.get(4), REGION - PAGE, REGION);
        CompletableFuture<PullResult> pull = begin(plan(0, 1, 2, 3, 4), 0, REGION);
        leader.clear(HALF);
        leader.awaitCopied(HALF);
        leader.clear(REGION);
        ControlException e = PullLeader.failure(pull);
        assertEquals(Code.PULL_FAILED, e.code());
        assertTrue(e.getMessage().contains("disagree"), e::getMessage);
        assertMade(0, 0, HALF);
        client.assertZero(into, REGION - PullLeader.PIECE, REGION);
    }

    @Test
    void aSourceThatGoesBackEndsIt() {
        CompletableFuture<PullResult> pull = begin(plan(0, 1, 2, 3), 0, REGION);
        leader.clear(HALF);
        leader.awaitCopied(HALF);
        plane.release(client.lease.id(), regions.get(2).regionId());
        leader.clear(REGION);
        ControlException e = PullLeader.failure(pull);
        assertEquals(Code.PULL_FAILED, e.code());
        assertTrue(e.getMessage().contains("split 2 of " + control.address()), e::getMessage);
        assertMade(0, 0, HALF);
        client.assertZero(into, HALF, REGION);
    }

    /** Whether it reads or decodes just then, the rebuild writes nothing to the region once that is granted again. */
    @Test
    void givingTheRegionBackMidwayLeavesNothingBehind() {
        for (int i = 0; i < 10; i++) {
            CompletableFuture<PullResult> pull = begin(plan(0, 1, 2, 3), 0, REGION);
            leader.clear(REGION);
            LockSupport.parkNanos(i * 50_000L);
            plane.release(client.lease.id(), into.regionId());
            into = client.allocate();
            client.assertZero(into);
            pull.exceptionally(e -> null).orTimeout(60, TimeUnit.SECONDS).join();
            client.assertZero(into);
            leader.close();
            leader = new PullLeader();
        }
    }

    @Test
    void givingTheRegionBackEndsIt() {
        CompletableFuture<PullResult> pull = begin(plan(0, 1, 2, 3), 0, REGION);
        leader.clear(HALF);
        leader.awaitCopied(HALF);
        plane.release(client.lease.id(), into.regionId());
        assertEquals(Code.PULL_FAILED, PullLeader.failure(pull).code());
        client.assertZero(client.allocate());
    }

    @ParameterizedTest
    @ValueSource(longs = {PullPace.STOP, 0, HALF - 1, REGION + 1, Long.MAX_VALUE, Long.MIN_VALUE})
    void aMarkThatMakesNoSenseEndsIt(long mark) {
        CompletableFuture<PullResult> pull = begin(plan(0, 1, 2, 3), 0, REGION);
        leader.clear(HALF);
        leader.awaitCopied(HALF);
        leader.clear(mark);
        assertEquals(Code.PULL_FAILED, PullLeader.failure(pull).code());
        client.assertZero(into, HALF, REGION);
    }

    @Test
    void aTicketOpensOnce() {
        RebuildPlan once = plan(0, 1, 2, 3);
        begin(once, 0, REGION);
        try (PullLeader second = new PullLeader()) {
            assertEquals(
                    Code.TICKET_REFUSED,
                    assertThrows(
                                    ControlException.class,
                                    () -> second.prepare(plane, client.lease.id(), into, once, 0, REGION))
                            .code());
        }
    }

    private static RebuildPlan nonsense(int data, int parity, int split, int... sources) {
        List<RebuildPlan.Source> from = new ArrayList<>();
        for (int source : sources) {
            from.add(new RebuildPlan.Source(source, "127.0.0.1:1", new byte[16]));
        }
        return new RebuildPlan(data, parity, split, from);
    }

    static List<RebuildPlan> plansThatMakeNoSense() {
        return List.of(
                nonsense(3, 2, 0),
                nonsense(3, 2, 0, 1, 2),
                nonsense(3, 2, 0, 0, 1, 2),
                nonsense(3, 2, 0, 1, 2, 2),
                nonsense(3, 2, 0, 1, 2, 5),
                nonsense(3, 2, 0, 1, 2, -1),
                nonsense(3, 2, 0, 1, 2, 32),
                nonsense(3, 2, 5, 1, 2, 3),
                nonsense(3, 2, -1, 1, 2, 3),
                nonsense(0, 2, 0, 1),
                nonsense(-1, 2, 0, 1),
                nonsense(17, 2, 0, 1),
                nonsense(1, -1, 0, 1),
                nonsense(1, 5, 0, 1),
                nonsense(Integer.MAX_VALUE, Integer.MAX_VALUE, 0, 1));
    }

    @ParameterizedTest
    @MethodSource("plansThatMakeNoSense")
    void aPlanThatMakesNoSenseIsRefused(RebuildPlan wanted) {
        ControlException e = assertThrows(ControlException.class, () -> prepare(wanted, 0, REGION));
        assertEquals(Code.INVALID_ARGUMENT, e.code());
        client.assertZero(into);
    }

    @ParameterizedTest
    @CsvSource({"-1,1048576", "0,1048577", "1048576,1048576", "8,8", "0,-1"})
    void aPaceThatMakesNoSenseIsRefused(long offset, long end) {
        assertEquals(
                Code.INVALID_ARGUMENT,
                assertThrows(ControlException.class, () -> prepare(plan(0, 1, 2, 3), offset, end))
                        .code());
    }
}
