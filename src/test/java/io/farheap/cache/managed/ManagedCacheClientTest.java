package io.farheap.cache.managed;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.control.ControlException.Code;
import io.farheap.control.SignedGrant;
import io.farheap.control.grpc.GrpcStatusCodes;
import io.farheap.manager.Allocation;
import io.farheap.manager.AllocationCandidate;
import io.farheap.manager.CacheDescription;
import io.farheap.manager.CacheManager;
import io.farheap.manager.Reclaim;
import io.farheap.manager.RegionShare;
import io.farheap.manager.client.ManagerConnection;
import io.farheap.manager.grpc.ManagerMessages;
import io.farheap.manager.wire.Alert;
import io.farheap.manager.wire.AllocateCache;
import io.farheap.manager.wire.AllocatedCache;
import io.farheap.manager.wire.Attendance;
import io.farheap.manager.wire.CacheId;
import io.farheap.manager.wire.ClaimCache;
import io.farheap.manager.wire.DescribedCache;
import io.farheap.manager.wire.ExpiringAlert;
import io.farheap.manager.wire.ExtendCache;
import io.farheap.manager.wire.HelloManager;
import io.farheap.manager.wire.LateAlert;
import io.farheap.manager.wire.ManagerGrpc;
import io.farheap.manager.wire.ManagerIntroduction;
import io.farheap.manager.wire.MovedRegions;
import io.farheap.manager.wire.Nothing;
import io.farheap.manager.wire.ReclaimAlert;
import io.farheap.manager.wire.ReclaimReason;
import io.farheap.manager.wire.UnknownAlert;
import io.farheap.manager.wire.WantedAlert;
import io.farheap.migration.MigrationOptions;
import io.farheap.migration.MigrationResult;
import io.farheap.remote.contract.RemoteRegion;
import io.grpc.Server;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A cache's client and a manager that sends it what the test wants. */
@Timeout(60)
class ManagedCacheClientTest {

    private static final long MIB = 1 << 20;
    private static final String SERVER = "10.0.0.1:1";
    private static final int REGIONS = 9;
    private static final long HOUR_MILLIS = 3_600_000;

    /** Has one cache, and says that it does not know it. */
    private static final class ForgetfulManager extends ManagerGrpc.ManagerImplBase {

        private final BlockingQueue<StreamObserver<Alert>> lines = new ArrayBlockingQueue<>(9);
        private final BlockingQueue<Long> extended = new ArrayBlockingQueue<>(9);
        private final BlockingQueue<Long> moved = new ArrayBlockingQueue<>(9);
        private final BlockingQueue<Long> claimed = new ArrayBlockingQueue<>(9);
        private final BlockingQueue<Long> deallocated = new ArrayBlockingQueue<>(9);
        private volatile long cacheId;
        private volatile long generation = 3;
        private volatile boolean refuses;
        private final Server server = NettyServerBuilder.forAddress(
                        new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                .addService(this)
                .build();

        private Allocation allocation() {
            return new Allocation(
                    cacheId,
                    generation,
                    REGIONS * MIB,
                    MIB,
                    AllocationCandidate.ANY,
                    List.of(new RegionShare(SERVER, REGIONS)),
                    List.of());
        }

        private static <T> void answer(StreamObserver<T> reply, T message) {
            reply.onNext(message);
            reply.onCompleted();
        }

        @Override
        public void hello(HelloManager request, StreamObserver<ManagerIntroduction> reply) {
            answer(
                    reply,
                    ManagerIntroduction.newBuilder()
                            .setProtocolVersion(CacheManager.PROTOCOL_VERSION)
                            .build());
        }

        @Override
        public void allocate(AllocateCache request, StreamObserver<AllocatedCache> reply) {
            cacheId = ManagerMessages.read(request).cacheId();
            answer(reply, ManagerMessages.write(allocation()));
        }

        @Override
        public void describe(CacheId request, StreamObserver<DescribedCache> reply) {
            reply.onError(GrpcStatusCodes.refusal(Code.NOT_FOUND, "it is not known"));
        }

        @Override
        public void claim(ClaimCache request, StreamObserver<AllocatedCache> reply) {
            if (refuses) {
                refuses = false;
                reply.onError(GrpcStatusCodes.refusal(Code.INTERNAL, "it cannot be written"));
            } else {
                generation = request.getGeneration() + 7;
                answer(reply, ManagerMessages.write(allocation()));
            }
            claimed.add(request.getGeneration());
        }

        @Override
        public void moved(MovedRegions request, StreamObserver<AllocatedCache> reply) {
            answer(reply, ManagerMessages.write(allocation()));
            moved.add(request.getGeneration());
        }

        @Override
        public void extend(ExtendCache request, StreamObserver<DescribedCache> reply) {
            extended.add(request.getLifetimeMillis());
            answer(
                    reply,
                    ManagerMessages.write(
                            new CacheDescription(allocation(), "cache", request.getLifetimeMillis(), "", List.of())));
        }

        @Override
        public void deallocate(CacheId request, StreamObserver<Nothing> reply) {
            answer(reply, Nothing.getDefaultInstance());
            deallocated.add(request.getCacheId());
        }

        @Override
        public StreamObserver<Attendance> attend(StreamObserver<Alert> alerts) {
            lines.add(alerts);
            return new StreamObserver<>() {
                @Override
                public void onNext(Attendance message) {}

                @Override
                public void onError(Throwable e) {}

                @Override
                public void onCompleted() {}
            };
        }
    }

    /** Has all regions on one server, and moves none. */
    private static final class StillCache implements ManagedCache {

        private final AtomicInteger looks = new AtomicInteger();
        private final AtomicInteger stays = new AtomicInteger();
        private final BlockingQueue<List<Integer>> moves = new ArrayBlockingQueue<>(9);
        private final BlockingQueue<BooleanSupplier> givesWay = new ArrayBlockingQueue<>(9);
        private final CountDownLatch held = new CountDownLatch(1);
        /** Whether what is done while no region moves ends only when its thread is interrupted. */
        private volatile boolean holds;

        @Override
        public List<String> servers() {
            return List.of(SERVER);
        }

        @Override
        public long capacity() {
            return REGIONS * MIB;
        }

        @Override
        public int regions() {
            return REGIONS;
        }

        @Override
        public <T> T unmoved(Supplier<T> action) {
            T result = action.get();
            if (holds) {
                held.countDown();
                try {
                    new CountDownLatch(1).await();
                } catch (InterruptedException e) {
                    // The client was closed.
                }
            }
            return result;
        }

        @Override
        public List<RemoteRegion> take(String address, int regions) {
            throw new UnsupportedOperationException();
        }

        @Override
        public String serverOf(int region) {
            return SERVER;
        }

        @Override
        public List<Integer> hottestFirst(List<Integer> regions) {
            looks.incrementAndGet();
            return regions;
        }

        @Override
        public boolean uses(int region, String address) {
            return address.equals(SERVER);
        }

        @Override
        public void doubt(String address) {}

        @Override
        public boolean serves(String address) {
            return true;
        }

        @Override
        public void addServer(String address) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void showGrant(String address, SignedGrant grant) {}

        @Override
        public MigrationResult migrate(
                List<Integer> regions, String from, String to, MigrationOptions how, BooleanSupplier whether) {
            moves.add(List.copyOf(regions));
            givesWay.add(whether);
            return MigrationResult.NONE;
        }

        @Override
        public void stay() {
            stays.incrementAndGet();
        }

        @Override
        public void retire(String address) {
            throw new UnsupportedOperationException();
        }
    }

    private final ForgetfulManager manager = new ForgetfulManager();
    private final StillCache cache = new StillCache();
    private final BlockingQueue<Duration> expiring = new ArrayBlockingQueue<>(9);
    private final BlockingQueue<CacheDescription.LateMove> late = new ArrayBlockingQueue<>(9);
    private final BlockingQueue<String> wanted = new ArrayBlockingQueue<>(9);
    private final ManagedCacheClient client;
    private final StreamObserver<Alert> line;

    ManagedCacheClientTest() throws IOException, InterruptedException {
        manager.server.start();
        client = ManagedCacheClient.allocate(
                List.of("127.0.0.1:" + manager.server.getPort()),
                "",
                "cache",
                REGIONS * MIB,
                Duration.ofMillis(2 * HOUR_MILLIS),
                "",
                List.of(AllocationCandidate.ANY),
                MigrationOptions.DEFAULT,
                new ManagedCacheClient.Listener() {
                    @Override
                    public void reclaiming(Reclaim alert) {}

                    @Override
                    public void reclaimed(String server, MigrationResult moved, int left) {}

                    @Override
                    public void expiring(Duration left) {
                        expiring.add(left);
                    }

                    @Override
                    public void late(CacheDescription.LateMove move) {
                        late.add(move);
                    }

                    @Override
                    public void wanted(String server, int regions) {
                        wanted.add(regions + " on " + server);
                    }
                });
        client.manage(cache);
        line = next(manager.lines);
    }

    @AfterEach
    void close() {
        client.close();
        manager.server.shutdownNow();
    }

    private static <T> T next(BlockingQueue<T> queue) throws InterruptedException {
        T next = queue.poll(30, TimeUnit.SECONDS);
        assertNotNull(next);
        return next;
    }

    private void expires(long leftMillis) {
        line.onNext(Alert.newBuilder()
                .setExpiring(
                        ExpiringAlert.newBuilder().setCacheId(manager.cacheId).setLeftMillis(leftMillis))
                .build());
    }

    private void isUnknown() {
        line.onNext(Alert.newBuilder()
                .setUnknown(UnknownAlert.newBuilder().setCacheId(manager.cacheId))
                .build());
    }

    private void leaves(String server, List<RegionShare> targets) {
        Reclaim alert = new Reclaim(manager.cacheId, 4, Reclaim.Reason.LEAVES, server, 30_000, targets);
        line.onNext(Alert.newBuilder().setReclaim(ManagerMessages.write(alert)).build());
    }

    /** To look which are used most takes longer than to copy a region of a MiB. */
    @Test
    void regionsLeaveAServerInOneMoveWhichMayGiveWayBetweenThem() throws Exception {
        leaves(SERVER, List.of(new RegionShare("10.0.0.2:1", REGIONS)));
        assertEquals(REGIONS, next(cache.moves).size());
        BooleanSupplier givesWay = next(cache.givesWay);
        assertEquals(4, next(manager.moved));
        assertEquals(1, cache.looks.get());
        assertTrue(cache.moves.isEmpty());
        assertFalse(givesWay.getAsBoolean());
        leaves("10.0.0.3:1", List.of());
        while (!givesWay.getAsBoolean()) {
            Thread.onSpinWait();
        }
    }

    private void wantsBack(long generation, int regions) {
        Reclaim alert = new Reclaim(
                manager.cacheId,
                generation,
                Reclaim.Reason.PRESSURE,
                SERVER,
                0,
                List.of(new RegionShare("10.0.0.2:1", regions)));
        ReclaimAlert message = ManagerMessages.write(alert);
        assertEquals(ReclaimReason.CHEAPER, message.getReason(), "for older clients");
        line.onNext(Alert.newBuilder().setReclaim(message).build());
    }

    /** Of regions that are used equally, the last one comes first. */
    @Test
    void asManyAsAServerWantsBackLeaveItTheColdestFirst() throws Exception {
        wantsBack(4, 3);
        assertEquals(List.of(REGIONS - 1, REGIONS - 2, REGIONS - 3), next(cache.moves));
        assertEquals(4, next(manager.moved));
        BooleanSupplier givesWay = next(cache.givesWay);
        assertFalse(givesWay.getAsBoolean());
        // The manager notifies the process again over another connection.
        wantsBack(4, 3);
        assertEquals(4, next(manager.moved));
        assertTrue(cache.moves.isEmpty(), "it has moved them");
        leaves(SERVER, List.of());
        while (!givesWay.getAsBoolean()) {
            Thread.onSpinWait();
        }
    }

    /** The server need not wait for the end of a long move. */
    @Test
    void theServerGetsSomeBackWhileOthersMove() throws Exception {
        wantsBack(4, REGIONS);
        assertEquals(8, next(cache.moves).size());
        assertEquals(List.of(0), next(cache.moves));
        assertEquals(4, next(manager.moved));
        assertEquals(3, cache.stays.get(), "and once at the end");
    }

    @Test
    void theListenerHearsWhatFindsNoRoom() throws Exception {
        line.onNext(Alert.newBuilder()
                .setWanted(WantedAlert.newBuilder()
                        .setCacheId(manager.cacheId)
                        .setServer(SERVER)
                        .setRegions(5))
                .build());
        assertEquals("5 on " + SERVER, next(wanted));
    }

    /** The manager was started again, and its time of day is ahead. */
    @Test
    void theManagerHearsWhatIsLeftIfItEndsTheCacheMuchTooEarly() throws Exception {
        expires(0);
        long left = next(manager.extended);
        assertTrue(left > HOUR_MILLIS && left <= 2 * HOUR_MILLIS, left + " ms");
        client.extend(Duration.ofSeconds(30));
        assertEquals(30_000, next(manager.extended));
        expires(29_000);
        assertEquals(Duration.ofSeconds(29), next(expiring), "and the listener only of the right end");
    }

    @Test
    void theListenerHearsWhatCannotLeaveInTime() throws Exception {
        CacheDescription.LateMove move = new CacheDescription.LateMove(SERVER, REGIONS, 2, 3_000, true);
        line.onNext(Alert.newBuilder()
                .setLate(LateAlert.newBuilder().setCacheId(manager.cacheId).setLate(ManagerMessages.write(move)))
                .build());
        assertEquals(move, next(late));
    }

    /** The manager would have its record without a client. */
    @Test
    void aCacheThatIsTakenUpWhileItIsClosedIsGivenBack() throws Exception {
        // It keeps the connection for the worker's call.
        try (ManagerConnection _ = ManagerConnection.open(List.of("127.0.0.1:" + manager.server.getPort()))) {
            cache.holds = true;
            isUnknown();
            assertTrue(cache.held.await(30, TimeUnit.SECONDS));
            client.close();
            next(manager.deallocated);
            next(manager.deallocated);
        }
    }

    /** Servers may have seen grants of each generation that the manager has named. */
    @Test
    void aClaimNamesTheLatestGenerationAndIsRepeatedIfItCannotBeWritten() throws Exception {
        isUnknown();
        assertEquals(3, next(manager.claimed));
        manager.refuses = true;
        isUnknown();
        assertEquals(10, next(manager.claimed));
        assertEquals(10, next(manager.claimed));
    }
}
