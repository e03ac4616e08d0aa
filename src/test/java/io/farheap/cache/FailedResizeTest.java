package io.farheap.cache;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.cache.contract.CacheException;
import io.farheap.migration.MigrationOptions;
import io.farheap.testing.Need;
import io.farheap.testing.Needs;
import io.farheap.testing.TestDevice;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Changes of a cache's capacity after a server has ended, or during another change. */
@Needs(Need.SOFTVERBS)
class FailedResizeTest {

    private static final long REGION = Cluster.REGION_BYTES;
    private static final long PATIENCE_NANOS = TestDevice.patience(TimeUnit.SECONDS.toNanos(30));

    private final Cluster cluster = new Cluster(4, 4);

    @AfterEach
    void close() {
        cluster.close();
    }

    private Cache cache(long bytes) {
        return Cache.builder().capacity(bytes).servers(cluster.addresses()).create();
    }

    private static void write(CacheSession session, Buffer buffer, long address, long value) {
        buffer.segment().set(JAVA_LONG, 0, value);
        session.writeBlocking(address, buffer, 0, Long.BYTES);
    }

    private static long read(CacheSession session, Buffer buffer, long address) {
        buffer.segment().set(JAVA_LONG, 0, -1);
        session.readBlocking(address, buffer, 0, Long.BYTES);
        return buffer.segment().get(JAVA_LONG, 0);
    }

    private void awaitFree(int server, int regions) {
        long deadline = System.nanoTime() + PATIENCE_NANOS;
        while (cluster.freeRegions(server) != regions && System.nanoTime() - deadline < 0) {
            LockSupport.parkNanos(100_000);
        }
        assertEquals(regions, cluster.freeRegions(server));
    }

    @Test
    void whatOneServerGaveGoesBackWhereTheOtherIsGone() {
        try (Cache cache = cache(3 * REGION);
                CacheSession session = cache.openSession();
                Buffer buffer = cache.allocate(64)) {
            write(session, buffer, 0, 7);
            assertEquals(2, cluster.freeRegions(0));
            cluster.stop(1);
            // The first server has two of the three regions that the cache needs.
            assertThrows(CacheException.class, () -> cache.reshape(6 * REGION));
            assertEquals(3 * REGION, cache.capacity());
            assertEquals(3, cache.regions());
            awaitFree(0, 2);
            assertEquals(7, read(session, buffer, 0));
            assertThrows(IndexOutOfBoundsException.class, () -> read(session, buffer, 3 * REGION));
            // The regions of the first server are enough for this size.
            cache.reshape(5 * REGION);
            write(session, buffer, 5 * REGION - 8, 8);
            assertEquals(8, read(session, buffer, 5 * REGION - 8));
        }
    }

    @Test
    void aTailThatCannotBeZeroedStaysBeyondTheEnd() {
        try (Cache cache = cache(2 * REGION);
                CacheSession session = cache.openSession();
                Buffer buffer = cache.allocate(64)) {
            write(session, buffer, 2 * REGION - 8, 7);
            write(session, buffer, 0, 5);
            cache.reshape(REGION + 8);
            cluster.stop(1);
            assertThrows(CacheException.class, () -> cache.reshape(2 * REGION));
            assertEquals(REGION + 8, cache.capacity());
            assertEquals(2, cache.regions());
            assertEquals(5, read(session, buffer, 0));
            assertThrows(IndexOutOfBoundsException.class, () -> read(session, buffer, 2 * REGION - 8));
        }
    }

    @Test
    void regionsOfALostServerAreCutOff() {
        try (Cache cache = cache(4 * REGION);
                CacheSession session = cache.openSession();
                Buffer buffer = cache.allocate(64)) {
            write(session, buffer, 0, 7);
            cluster.stop(1);
            cache.reshape(REGION);
            assertEquals(1, cache.regions());
            awaitFree(0, 3);
            assertEquals(7, read(session, buffer, 0));
            assertThrows(IndexOutOfBoundsException.class, () -> read(session, buffer, REGION));
        }
    }

    @Test
    void aMigrationThatWaitsForASmallerCacheMovesNothingThatIsGone() throws Exception {
        try (Cache cache = cache(4 * REGION);
                CacheSession session = cache.openSession();
                Buffer buffer = cache.allocate(64)) {
            String first = cache.serverOf(0);
            String other = cache.serverOf(1);
            // The cache does not give up its regions until the session has polled for this read.
            assertTrue(session.read(4 * REGION - 8, buffer, 0, 8, (_, _) -> {}, 0));
            CompletableFuture<Void> smaller = CompletableFuture.runAsync(() -> cache.reshape(REGION));
            while (cache.capacity() != REGION) {
                Thread.onSpinWait();
            }
            CompletableFuture<Void> moved = new CompletableFuture<>();
            Thread mover = Thread.ofPlatform().start(() -> {
                try {
                    cache.migrate(List.of(0, 3), other, MigrationOptions.DEFAULT);
                    moved.complete(null);
                } catch (Throwable e) {
                    moved.completeExceptionally(e);
                }
            });
            while (mover.getState() != Thread.State.WAITING && !moved.isDone()) {
                Thread.onSpinWait();
            }
            session.drain();
            smaller.get(PATIENCE_NANOS, TimeUnit.NANOSECONDS);
            ExecutionException refused =
                    assertThrows(ExecutionException.class, () -> moved.get(PATIENCE_NANOS, TimeUnit.NANOSECONDS));
            assertInstanceOf(IndexOutOfBoundsException.class, refused.getCause());
            assertEquals("region 3; the cache has 1", refused.getCause().getMessage());
            assertEquals(first, cache.serverOf(0), "all or nothing");
            awaitFree(0, 3);
            awaitFree(1, 4);
        }
    }
}
