package io.farheap.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.farheap.control.ControlException;
import io.farheap.control.ControlException.Code;
import io.farheap.control.RegionGrant;
import io.farheap.control.grpc.ControlClient;
import io.farheap.control.grpc.ControlServer;
import io.farheap.control.lease.LeaseKeeper;
import io.farheap.control.plane.PullPace;
import io.farheap.control.plane.PullResult;
import io.farheap.server.contract.ServerOptions;
import io.farheap.testing.DeviceFaults;
import io.farheap.testing.Need;
import io.farheap.testing.Needs;
import io.farheap.testing.Softverbs;
import io.farheap.testing.TestDevice;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A pull that goes at its client's pace. */
class PacedPullTest {

    private static final long REGION = 1 << 20;
    private static final long HALF = REGION / 2;
    private static final long LATE_NANOS = 50_000_000L;
    private static final long LEASE = 300_000_000_000L;
    /** For this long, a server that prepares a pull waits for the end of the running one. */
    private static final long PREPARE_WAITS_NANOS = 2_000_000_000L;

    private ServerPlane server;
    private ControlServer control;
    private ControlClient plane;
    private TestClient client;
    private LeaseKeeper keeper;
    private RegionGrant from;
    private RegionGrant to;
    private PullLeader leader;
    private byte[] token;

    @BeforeEach
    void start() {
        server = ServerPlane.open(new ServerOptions(REGION * 2, REGION, LEASE, TestDevice.server(), "paced"));
        control = ControlServer.start("127.0.0.1:0", server);
        plane = ControlClient.connect(control.address());
        client = new TestClient(plane);
        keeper = new LeaseKeeper(plane, client.lease, (lease, cause) -> {});
        from = client.allocate();
        to = client.allocate();
        client.fill(from, 1);
        leader = new PullLeader();
        token = plane.export(client.lease.id(), from.regionId()).token();
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

    private void prepare(long offset, long end, int piece) {
        leader.prepare(plane, client.lease.id(), to, control.address(), token, offset, end, piece);
    }

    private CompletableFuture<PullResult> begin(long offset, long end) {
        prepare(offset, end, PullLeader.PIECE);
        return start(control.address(), offset);
    }

    private CompletableFuture<PullResult> start(String source, long offset) {
        CompletableFuture<PullResult> pull =
                CompletableFuture.supplyAsync(() -> plane.pull(client.lease.id(), to.regionId(), source, token));
        leader.awaitCopied(offset);
        return pull;
    }

    @Test
    void whatIsClearedIsCopiedAndNothingElse() {
        CompletableFuture<PullResult> pull = begin(0, REGION);
        leader.clear(HALF);
        leader.awaitCopied(HALF);
        client.assertFilled(to, 1, 0, HALF);
        client.assertZero(to, HALF, REGION);

        client.fill(from, 2);
        leader.clear(REGION);
        leader.awaitCopied(REGION);
        assertEquals(REGION, pull.join().bytes());
        client.assertFilled(to, 1, 0, HALF);
        client.assertFilled(to, 2, HALF, REGION);
    }

    /** The source is on a machine of its own, from which each READ takes long: several READs overlap in time. */
    @Test
    @Needs(Need.SOFTVERBS)
    void whatIsSaidToBeCopiedIsThereThoughWhatFollowsIsLate() {
        Softverbs.devices(2);
        try (ServerPlane far = ServerPlane.open(new ServerOptions(REGION, REGION, LEASE, "soft1", "far"));
                ControlServer farControl = ControlServer.start("127.0.0.1:0", far);
                ControlClient farPlane = ControlClient.connect(farControl.address());
                TestClient owner = new TestClient(farPlane);
                DeviceFaults faults = DeviceFaults.of("soft1")) {
            RegionGrant source = owner.allocate();
            owner.fill(source, 3);
            token = farPlane.export(owner.lease.id(), source.regionId()).token();
            leader.prepare(plane, client.lease.id(), to, farControl.address(), token, 0, REGION);
            CompletableFuture<PullResult> pull = start(farControl.address(), 0);
            faults.slow(1, LATE_NANOS);
            for (long cleared = 0, copied = 0; copied < REGION; ) {
                if (cleared < REGION) {
                    cleared += PullLeader.PIECE;
                    leader.clear(cleared);
                }
                assertFalse(pull.isCompletedExceptionally());
                long next = System.nanoTime() + LATE_NANOS / 5;
                do {
                    long before = copied;
                    copied = leader.copied();
                    client.assertFilled(to, 3, before, copied);
                } while (System.nanoTime() - next < 0);
            }
            assertEquals(REGION, pull.join().bytes());
        } finally {
            Softverbs.devices(1);
        }
    }

    /** A leader whose queue pair has failed cannot report that it gives up. */
    @Test
    void aPullThatIsPreparedAnewEndsTheOneUnderWay() {
        CompletableFuture<PullResult> abandoned = begin(0, REGION);
        leader.clear(HALF);
        leader.awaitCopied(HALF);
        token = plane.export(client.lease.id(), from.regionId()).token();
        try (PullLeader before = leader) {
            leader = new PullLeader();
            long start = System.nanoTime();
            prepare(HALF, REGION, PullLeader.PIECE);
            if (System.nanoTime() - start >= PREPARE_WAITS_NANOS) {
                // The server may have given up waiting: it refuses a new pull until the running one has ended.
                assertEquals(Code.PULL_FAILED, PullLeader.failure(abandoned).code());
            }
            CompletableFuture<PullResult> pull = start(control.address(), HALF);
            assertEquals(Code.PULL_FAILED, PullLeader.failure(abandoned).code());
            assertEquals(HALF, before.copied());
            leader.clear(REGION);
            assertEquals(HALF, pull.join().bytes());
            client.assertFilled(to, 1, 0, REGION);
        }
    }

    @Test
    void aPartIsCopiedWithOddPieces() {
        int page = TestClient.PAGE;
        CompletableFuture<PullResult> pull = begin(3L * page, 9L * page);
        leader.clear(4L * page + 8);
        leader.awaitCopied(4L * page + 8);
        leader.clear(9L * page);
        assertEquals(6L * page, pull.join().bytes());
        client.assertZero(to, 0, 3L * page);
        client.assertFilled(to, 1, 3L * page, 9L * page);
        client.assertZero(to, 9L * page, REGION);
    }

    @ParameterizedTest
    @ValueSource(longs = {PullPace.STOP, 0, HALF - 1, REGION + 1, Long.MAX_VALUE, Long.MIN_VALUE})
    void aMarkThatMakesNoSenseEndsThePull(long mark) {
        CompletableFuture<PullResult> pull = begin(0, REGION);
        leader.clear(HALF);
        leader.awaitCopied(HALF);
        leader.clear(mark);
        assertEquals(Code.PULL_FAILED, PullLeader.failure(pull).code());
        client.assertZero(to, HALF, REGION);
    }

    @Test
    void givingTheRegionBackEndsAPullThatWaitsForItsClient() {
        CompletableFuture<PullResult> pull = begin(0, REGION);
        leader.clear(HALF);
        leader.awaitCopied(HALF);
        plane.release(client.lease.id(), to.regionId());
        assertEquals(Code.PULL_FAILED, PullLeader.failure(pull).code());
        client.assertZero(client.allocate());
    }

    @ParameterizedTest
    @CsvSource({
        "-1,1048576,65536",
        "0,1048577,65536",
        "1048576,1048576,65536",
        "8,8,65536",
        "0,-1,65536",
        "0,1048576,0",
        "0,1048576,-1",
        "0,1048576,1073741825"
    })
    void aPaceThatMakesNoSenseIsRefused(long offset, long end, int piece) {
        assertEquals(
                Code.INVALID_ARGUMENT,
                assertThrows(ControlException.class, () -> prepare(offset, end, piece))
                        .code());
    }
}
