package io.farheap.cache;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.cache.batch.SessionBatches;
import io.farheap.cache.contract.CacheConfiguration;
import io.farheap.cache.contract.CacheException;
import io.farheap.cache.contract.Completion;
import io.farheap.cache.contract.Status;
import io.farheap.cache.onesided.SessionEngine;
import io.farheap.cache.order.RequestPath;
import io.farheap.cache.route.Routes;
import io.farheap.cache.session.SessionCore;
import io.farheap.connection.Connection;
import io.farheap.latency.LatencyTracking;
import io.farheap.migration.MigrationOptions;
import io.farheap.migration.PauseScope;
import io.farheap.remote.contract.RemoteServer;
import io.farheap.remote.queue.QueueConnections;
import io.farheap.testing.Effort;
import io.farheap.testing.Fields;
import io.farheap.testing.Need;
import io.farheap.testing.Needs;
import io.farheap.testing.TestDevice;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;

/** Each operation that fails ends: nothing hangs, and no other operation is held up. */
@ParameterizedClass(name = "{0}")
@MethodSource("io.farheap.cache.Configurations#one")
class FailureTest {

    @Parameter
    private CacheConfiguration configuration;

    /** A delay that no test waits for. */
    private static final long LATE_SECONDS = 20;

    private static final long PATIENCE_SECONDS = TestDevice.patience(20);

    private Cluster cluster;
    private Cache cache;
    private CacheSession session;
    private Buffer buffer;
    private boolean stop;
    private Completion reissue;
    private long calls;

    @BeforeEach
    void create() {
        cluster = new Cluster(4, 4);
        cache = Cache.builder()
                .capacity(2 * Cluster.REGION_BYTES)
                .servers(cluster.address(0))
                .device(TestDevice.client())
                .configuration(configuration)
                .trackLatency(LatencyTracking.EVERY)
                .create();
        cache.addServer(cluster.address(1));
        session = cache.openSession();
        buffer = cache.allocate(4096);
        reissue = (token, status) -> {
            calls++;
            if (!stop) {
                session.read(0, buffer, 0, 8, reissue, 0);
            }
        };
    }

    @AfterEach
    void close() {
        cache.close();
        cluster.close();
    }

    @Test
    @Needs(Need.LATE_OPERATIONS)
    void requestsOfAFailedConnectionEndAlthoughItsServerIsRetired() throws Exception {
        List<Integer> statuses = new ArrayList<>();
        LateOperations.by(LATE_SECONDS, TimeUnit.SECONDS);
        try {
            for (int i = 0; i < 4; i++) {
                session.read(0, buffer, 0, 8, (token, status) -> statuses.add(status), i);
            }
            SessionFaults.awaitTaken(session, 4);
            SessionFaults.failConnection(session.core(), 0);
        } finally {
            LateOperations.no();
        }
        cache.retire(cluster.address(0), moved -> {});
        session.drain();
        // They are repeated where their region is now.
        assertEquals(List.of(Status.OK, Status.OK, Status.OK, Status.OK), statuses);
        session.readBlocking(0, buffer, 0, 8);
    }

    @Test
    void aMigrationReconnectsASessionThatHasLostTheDestination() throws Exception {
        buffer.segment().set(JAVA_LONG, 0, 5);
        session.writeBlocking(0, buffer, 0, 8);
        SessionFaults.failConnection(session.core(), 1);
        cache.migrate(0, cluster.address(1));
        session.readBlocking(0, buffer, 8, 8);
        assertEquals(5, buffer.segment().get(JAVA_LONG, 8));
    }

    /**
     * A thread that opens a session reconnects client threads. A migration meanwhile must not fail because of that, and
     * must not overlook the new connections.
     */
    @Test
    void connectionsAreReplacedWhileARegionMoves() throws Exception {
        buffer.segment().set(JAVA_LONG, 0, 5);
        session.writeBlocking(0, buffer, 0, 8);
        AtomicBoolean enough = new AtomicBoolean();
        CompletableFuture<Void> replacing = CompletableFuture.runAsync(() -> {
            for (int i = 0; !enough.get(); i++) {
                SessionFaults.failConnection(session.core(), i & 1);
                cache.openSession().close();
            }
        });
        try {
            for (int i = 1; i <= Effort.count(60); i++) {
                cache.migrate(0, cluster.address(i & 1));
            }
        } finally {
            enough.set(true);
            replacing.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
        }
        try (CacheSession other = cache.openSession()) {
            other.readBlocking(0, buffer, 8, 8);
        }
        assertEquals(5, buffer.segment().get(JAVA_LONG, 8));
    }

    /** A migration gives new connections to a session that has none, unless the session closes meanwhile. */
    @Test
    void sessionsThatHaveLostTheirConnectionsCloseWhileARegionMoves() throws Exception {
        AtomicBoolean enough = new AtomicBoolean();
        CompletableFuture<Void> closing = CompletableFuture.runAsync(() -> {
            while (!enough.get()) {
                CacheSession other = cache.openSession();
                SessionFaults.failConnection(other.core(), 0);
                SessionFaults.failConnection(other.core(), 1);
                other.close();
            }
        });
        try {
            for (int i = 1; i <= Effort.count(40); i++) {
                cache.migrate(0, cluster.address(i & 1));
            }
        } finally {
            enough.set(true);
            closing.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
        }
    }

    @Test
    void aCallbackThatIssuesAgainAfterALossDoesNotKeepPollFromReturning() throws Exception {
        SessionFaults.failConnection(session.core(), 0);
        session.read(0, buffer, 0, 8, reissue, 0);
        while (calls < 100) {
            assertTrue(session.poll() <= 2);
        }
        // Another thread can claim the session's gate.
        CompletableFuture.runAsync(() -> cache.allocate(8).close()).get(PATIENCE_SECONDS, TimeUnit.SECONDS);
        stop = true;
        session.drain();
    }

    @Test
    void closingEndsACallbackThatAlwaysIssuesTheNextRequest() {
        session.read(0, buffer, 0, 8, reissue, 0);
        session.poll();
        assertThrows(IllegalStateException.class, session::close);
        assertThrows(IllegalStateException.class, session::poll);
    }

    @Test
    @Needs(Need.LATE_OPERATIONS)
    void futuresEndWithTheCache() {
        FutureCacheSession futures = cache.openFutureSession();
        List<CompletableFuture<Void>> pending = new ArrayList<>();
        LateOperations.by(400, TimeUnit.MILLISECONDS);
        try {
            for (int i = 0; i < 3; i++) {
                pending.add(futures.read(0, MemorySegment.ofArray(new long[1])));
            }
            cache.close();
        } finally {
            LateOperations.no();
        }
        for (CompletableFuture<Void> future : pending) {
            assertTrue(future.isDone());
        }
        assertThrows(CompletionException.class, () -> futures.read(0, MemorySegment.ofArray(new long[1]))
                .join());
        futures.close();
    }

    @Test
    void futuresOfOtherRegionsGoOnWhileManyWritesAreHeld() throws Exception {
        try (FutureCacheSession futures = cache.openFutureSession()) {
            cluster.pulls().shut();
            CompletableFuture<Void> migration = CompletableFuture.runAsync(() ->
                    cache.migrate(List.of(0), cluster.address(1), MigrationOptions.DEFAULT.pause(PauseScope.CACHE)));
            cluster.pulls().awaitPull();
            List<CompletableFuture<Void>> writes = new ArrayList<>();
            for (long value = 1; value <= 1_000; value++) {
                writes.add(futures.write(0, MemorySegment.ofArray(new long[] {value})));
            }
            futures.read(Cluster.REGION_BYTES, MemorySegment.ofArray(new long[1]))
                    .get(PATIENCE_SECONDS, TimeUnit.SECONDS);
            assertTrue(
                    writes.stream().noneMatch(CompletableFuture::isDone),
                    "a write went through while the cache was paused");
            cluster.pulls().open();
            migration.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
            CompletableFuture.allOf(writes.toArray(CompletableFuture[]::new)).get(PATIENCE_SECONDS, TimeUnit.SECONDS);
            MemorySegment last = MemorySegment.ofArray(new long[1]);
            futures.read(0, last).join();
            assertEquals(1_000, last.get(JAVA_LONG, 0));
        }
    }

    @Test
    void requestsForManyRecordsAreTakenWholeOrNotAtAllWhileWritesAreHeld() throws Exception {
        cluster.pulls().shut();
        CompletableFuture<Void> migration = CompletableFuture.runAsync(
                () -> cache.migrate(List.of(0), cluster.address(1), MigrationOptions.DEFAULT.pause(PauseScope.CACHE)));
        cluster.pulls().awaitPull();
        long[] addresses = {0, 8, Cluster.REGION_BYTES, Cluster.REGION_BYTES + 8};
        int[] ended = {0};
        int taken = 0;
        for (int i = 0; i < 1_000; i++) {
            if (session.writeAll(
                    addresses,
                    addresses.length,
                    buffer,
                    0,
                    8,
                    (token, status) -> ended[0] += status == Status.OK ? 1 : 1_000,
                    i)) {
                taken++;
            }
            session.poll();
        }
        assertTrue(taken > 0 && taken < 1_000, taken + " were taken");
        cluster.pulls().open();
        migration.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
        session.drain();
        assertEquals(taken, ended[0]);
    }

    @Test
    void closedSessionsLeaveTheirLatenciesAndNothingElse() {
        for (int i = 0; i < 10; i++) {
            try (CacheSession another = cache.openSession()) {
                another.readBlocking(0, buffer, 0, 8);
            }
        }
        assertEquals(10, cache.latency().endInterval().reads().getTotalCount());
        assertEquals(0, cache.latency().endInterval().reads().getTotalCount());
    }

    @Test
    void anAbsurdCapacityIsRefused() {
        for (long capacity : new long[] {Long.MAX_VALUE, Long.MAX_VALUE - Cluster.REGION_BYTES, 1L << 50}) {
            String message = assertThrows(CacheException.class, () -> Cache.builder()
                            .capacity(capacity)
                            .servers(cluster.addresses())
                            .device(TestDevice.client())
                            .create())
                    .getMessage();
            assertTrue(message.contains("free: ask for less"), message);
        }
        assertEquals(2, cluster.freeRegions(0));
    }

    @Test
    void sessionsMayCloseWhileTheCacheDoes() throws Exception {
        for (int round = 0; round < Effort.count(30); round++) {
            Cache other = Cache.builder()
                    .capacity(Cluster.REGION_BYTES)
                    .servers(cluster.address(1))
                    .device(TestDevice.client())
                    .create();
            CacheSession closing = other.openSession();
            CompletableFuture<Void> close = CompletableFuture.runAsync(closing::close);
            other.close();
            try {
                close.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
            } catch (java.util.concurrent.ExecutionException e) {
                assertTrue(e.getCause() instanceof IllegalStateException, e.toString());
            }
        }
        assertEquals(4, cluster.freeRegions(1));
        assertFalse(cache.servers().isEmpty());
    }

    /** Each connection is replaced during requests. A session holds only its present ones, however many there were. */
    @Test
    void connectionsThatWereReplacedAreForgotten() throws Exception {
        RemoteServer server = ((RegionCache) cache).table().get(0).copy().server();
        SessionCore posting = SessionFaults.posting(session.core());
        for (int round = 0; round < 40; round++) {
            int[] ended = new int[1];
            for (int i = 0; i < 4; i++) {
                assertTrue(session.write(8 * i, buffer, 0, 8, (token, status) -> ended[0]++, i));
            }
            SessionFaults.failConnection(session.core(), 0);
            posting.participant.ensureConnected(server);
            session.drain();
            assertEquals(4, ended[0]);
            buffer.segment().set(JAVA_LONG, 0, round);
            session.writeBlocking(0, buffer, 0, 8);
            session.readBlocking(0, buffer, 8, 8);
            assertEquals(round, buffer.segment().get(JAVA_LONG, 8));
        }
        RequestPath own = Fields.get(posting.admission, "path", RequestPath.class);
        SessionEngine engine = own instanceof SessionBatches batches
                ? Fields.get(batches, "engine", SessionEngine.class)
                : (SessionEngine) own;
        Routes routes = Fields.get(engine, "routes", Routes.class);
        QueueConnections connections = Fields.get(routes, "connections", QueueConnections.class);
        int held = Fields.get(connections, "byNumber", Connection[].class).length;
        assertTrue(held <= 8, held + " connections are held after 40 to one server");
    }
}
