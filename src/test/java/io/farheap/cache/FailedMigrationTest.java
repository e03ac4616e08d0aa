package io.farheap.cache;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.cache.contract.CacheException;
import io.farheap.cache.contract.Status;
import io.farheap.cache.onesided.SessionEngine;
import io.farheap.cache.route.Routes;
import io.farheap.cache.session.SessionParticipant;
import io.farheap.connection.Connection;
import io.farheap.migration.MigrationOptions;
import io.farheap.remote.contract.RemoteServer;
import io.farheap.remote.queue.QueueCompletions;
import io.farheap.remote.queue.QueuePoster;
import io.farheap.testing.Fields;
import io.farheap.testing.Need;
import io.farheap.testing.Needs;
import io.farheap.testing.TestDevice;
import java.util.HashSet;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The state in which failed migrations leave sessions and servers. */
@Needs(Need.SOFTVERBS)
class FailedMigrationTest {

    private static final long STRAGGLE_NANOS = 1_000_000;

    private static final MigrationOptions SLOWLY =
            MigrationOptions.DEFAULT.chunkBytes(512).windowBytes(512);

    private Cluster cluster;
    private Cache cache;
    private CacheSession session;
    private Buffer buffer;
    private long reads;
    private long lost;

    @BeforeEach
    void create() {
        cluster = new Cluster(4, 4, 4);
        cache = Cache.builder()
                .capacity(2 * Cluster.REGION_BYTES)
                .servers(cluster.address(0))
                .device(TestDevice.client())
                .configuration(Configurations.DIRECT)
                .create();
        cache.addServer(cluster.address(1));
        cache.addServer(cluster.address(2));
        session = cache.openSession();
        buffer = cache.allocate(4096);
    }

    @AfterEach
    void close() {
        SoftverbsFaults.failQueuePairsAfter(0);
        SoftverbsFaults.delayOperations(0);
        cache.close();
        cluster.close();
    }

    /**
     * Migrates the first region, whose copy's queue pair fails once it has executed this number of READs, of a chunk
     * each. The client clears a copy for each chunk when it has seen the one before, so it knows how far that was.
     */
    private void failOnTheWayTo(int server, int operations) {
        SoftverbsFaults.failQueuePairsAfter(operations);
        assertThrows(
                CacheException.class,
                () -> cache.migrate(List.of(0), cluster.address(server), SLOWLY),
                "the migration was to fail");
        SoftverbsFaults.failQueuePairsAfter(0);
        assertTrue(cache.movedBytes(0) > 0, "some of it has moved");
    }

    private void keepReading() {
        session.read(
                Cluster.REGION_BYTES,
                buffer,
                64,
                8,
                (token, status) -> {
                    reads++;
                    lost += status == Status.OK ? 0 : 1;
                },
                0);
        session.poll();
    }

    @Test
    void aRegionThatWentForthAndBackInPartIsFreedOncePerCopy() throws Exception {
        buffer.segment().set(JAVA_LONG, 0, 5);
        session.writeBlocking(Cluster.REGION_BYTES - 8, buffer, 0, 8);
        failOnTheWayTo(1, 48);
        long first = cache.movedBytes(0);
        // On the way back a new first part begins at 0.
        failOnTheWayTo(0, 16);
        assertTrue(cache.movedBytes(0) < first, "the first server has the beginning and the end");
        int before = cluster.pulls().released().size();

        // Operations to the first server are on their way while the region moves on: the flush of a region that was
        // freed would make them fail.
        SoftverbsFaults.delayOperations(0.5, STRAGGLE_NANOS);
        CompletableFuture<Void> migration =
                CompletableFuture.runAsync(() -> cache.migrate(List.of(0), cluster.address(2), SLOWLY));
        while (!migration.isDone()) {
            keepReading();
        }
        migration.join();
        SoftverbsFaults.delayOperations(0);
        session.drain();

        List<String> released = cluster.pulls()
                .released()
                .subList(before, cluster.pulls().released().size());
        assertEquals(2, released.size(), () -> "released: " + released);
        assertEquals(released.size(), new HashSet<>(released).size(), () -> "released: " + released);
        assertNotEquals(0, reads);
        assertEquals(0, lost, "of " + reads + " reads");
        session.readBlocking(Cluster.REGION_BYTES - 8, buffer, 8, 8);
        assertEquals(5, buffer.segment().get(JAVA_LONG, 8));
        assertEquals(List.of(3, 4, 3), List.of(cluster.freeRegions(0), cluster.freeRegions(1), cluster.freeRegions(2)));
    }

    /**
     * Destroying the queue pair drops the completion of its flush, which would let requests go the short way again. So
     * the end of the connection has to do that.
     */
    @Test
    void aConnectionThatEndsUnderAFlushLetsRequestsGoTheShortWayAgain() throws Exception {
        SessionEngine engine = Fields.get(session.core().admission, "path", SessionEngine.class);
        QueuePoster queue = Fields.get(engine, "queue", QueuePoster.class);
        Connection connection = Fields.get(engine, "routes", Routes.class).connection(0);
        SoftverbsFaults.delayOperations(TimeUnit.SECONDS.toNanos(20));
        session.core().admission.gate().claim();
        try {
            assertTrue(queue.drain(
                    connection,
                    ((RegionCache) cache).table().get(0).copy(),
                    ((RegionCache) cache).device().scratch().address(),
                    ((RegionCache) cache).device().scratch().localKey()));
        } finally {
            session.core().admission.gate().unclaim();
        }
        SoftverbsFaults.delayOperations(0);
        assertTrue(connection.flushing() && connection.inFlight() == 0, "nothing but the flush is in flight");
        QueueCompletions completions = Fields.get(queue, "completions", QueueCompletions.class);
        assertTrue(completions.draining());

        RemoteServer server = ((RegionCache) cache).table().get(0).copy().server();
        SessionParticipant.disconnect(List.of(session.core().participant), server);
        assertFalse(completions.draining(), "requests still take the long way");
    }
}
