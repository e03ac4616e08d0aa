package io.farheap.cache.move;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.cache.Buffer;
import io.farheap.cache.Cache;
import io.farheap.cache.CacheSession;
import io.farheap.cache.Cluster;
import io.farheap.cache.Configurations;
import io.farheap.cache.SoftverbsFaults;
import io.farheap.cache.contract.CacheException;
import io.farheap.migration.MigrationOptions;
import io.farheap.migration.MigrationResult;
import io.farheap.migration.PauseScope;
import io.farheap.testing.Effort;
import io.farheap.testing.Need;
import io.farheap.testing.Needs;
import io.farheap.testing.TestDevice;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Regions that are prepared while another one is copied: nothing of the preparation stays if they do not move. */
class MovePrefetcherTest {

    private static final int REGIONS = 6;
    private static final MigrationOptions SLOWLY =
            MigrationOptions.DEFAULT.chunkBytes(512).windowBytes(512);
    /** A move to a given server prepares further regions only if the whole cache waits for it. */
    private static final MigrationOptions HASTY = MigrationOptions.DEFAULT.pause(PauseScope.CACHE);

    private Cluster cluster;
    private Cache cache;
    private CacheSession session;
    private Buffer buffer;

    @BeforeEach
    void create() {
        cluster = new Cluster(REGIONS, REGIONS, 2);
        cache = Cache.builder()
                .capacity(REGIONS * Cluster.REGION_BYTES)
                .servers(cluster.address(0))
                .device(TestDevice.client())
                .configuration(Configurations.DIRECT)
                .create();
        session = cache.openSession();
        buffer = cache.allocate(4096);
        for (int region = 0; region < REGIONS; region++) {
            buffer.segment().set(JAVA_LONG, 0, region + 1);
            session.writeBlocking(lastOf(region), buffer, 0, 8);
        }
    }

    @AfterEach
    void close() {
        cache.close();
        cluster.close();
    }

    private static long lastOf(int region) {
        return (region + 1) * Cluster.REGION_BYTES - 8;
    }

    private void checkContent() throws Exception {
        for (int region = 0; region < REGIONS; region++) {
            session.readBlocking(lastOf(region), buffer, 8, 8);
            assertEquals(region + 1, buffer.segment().get(JAVA_LONG, 8));
        }
    }

    private <T> T polling(CompletableFuture<T> migration) {
        while (!migration.isDone()) {
            session.poll();
            LockSupport.parkNanos(50_000);
        }
        return migration.join();
    }

    @Test
    void allMoveAndNothingStays() throws Exception {
        cache.addServer(cluster.address(1));
        List<Integer> all = IntStream.range(0, REGIONS).boxed().toList();
        for (int turn = 0; turn < 4; turn++) {
            int to = (turn + 1) % 2;
            MigrationOptions how = turn < 2 ? HASTY : MigrationOptions.DEFAULT;
            MigrationResult moved =
                    polling(CompletableFuture.supplyAsync(() -> cache.migrate(all, cluster.address(to), how)));
            assertEquals(REGIONS, moved.regions());
            assertEquals(REGIONS * Cluster.REGION_BYTES, moved.bytes());
            // The regions are free when the move has ended, and not some time later.
            assertEquals(List.of(REGIONS, 0), List.of(cluster.freeRegions(1 - to), cluster.freeRegions(to)));
            checkContent();
        }
    }

    /**
     * The preparation of a region can be used only once: a listener cannot move regions meanwhile, and a region that is
     * named twice moves once.
     */
    @Test
    void regionsAreWhereTheyWent() throws Exception {
        String roomy = cluster.add(3 * REGIONS);
        cache.addServer(roomy);
        polling(CompletableFuture.supplyAsync(() -> cache.retire(
                cluster.address(0),
                _ -> assertThrows(
                        IllegalStateException.class,
                        () -> cache.migrate(List.of(1, 2, 1), roomy, MigrationOptions.DEFAULT)))));
        assertEquals(List.of(roomy), cache.servers());
        assertEquals(2 * REGIONS, cluster.freeRegions(3));
        checkContent();
        cache.addServer(cluster.address(1));
        polling(CompletableFuture.supplyAsync(() -> cache.migrate(List.of(5, 5, 4, 5, 4), cluster.address(1), HASTY)));
        assertEquals(List.of(REGIONS - 2, 2 * REGIONS + 2), List.of(cluster.freeRegions(1), cluster.freeRegions(3)));
        checkContent();
    }

    static IntStream rounds() {
        return IntStream.range(0, Effort.either(2, 5));
    }

    @ParameterizedTest
    @MethodSource("rounds")
    void aServerThatFillsUpHasWhatFits(int round) throws Exception {
        cache.addServer(cluster.address(2));
        CacheException full = polling(CompletableFuture.supplyAsync(() -> assertThrows(
                CacheException.class, () -> cache.migrate(List.of(1, 2, 3, 4), cluster.address(2), HASTY))));
        assertTrue(full.getMessage().startsWith("region 3 stays on "), full::getMessage);
        assertEquals(List.of(2, 0), List.of(cluster.freeRegions(0), cluster.freeRegions(2)));
        checkContent();
    }

    @ParameterizedTest
    @MethodSource("rounds")
    void aServerThatIsNotLeftAfterAllHasBackWhatHasMoved(int round) throws Exception {
        cache.addServer(cluster.address(2));
        CacheException full = polling(CompletableFuture.supplyAsync(
                () -> assertThrows(CacheException.class, () -> cache.retire(cluster.address(0), _ -> {}))));
        assertTrue(full.getMessage().startsWith("region 2 stays on "), full::getMessage);
        assertEquals(List.of(2, 0), List.of(cluster.freeRegions(0), cluster.freeRegions(2)));
        assertEquals(List.of(cluster.address(0), cluster.address(2)), cache.servers());
        checkContent();
        cache.addServer(cluster.address(1));
        polling(CompletableFuture.supplyAsync(() -> cache.retire(cluster.address(0), _ -> {})));
        assertEquals(List.of(cluster.address(2), cluster.address(1)), cache.servers());
        checkContent();
    }

    @Test
    @Needs(Need.SOFTVERBS)
    void nothingIsMadeReadyAheadWhereNoServerIsLeft() throws Exception {
        cache.addServer(cluster.address(1));
        List<Integer> four = List.of(0, 1, 2, 3);
        SoftverbsFaults.delayOperations(1_000_000);
        try {
            CompletableFuture<MigrationResult> migration =
                    CompletableFuture.supplyAsync(() -> cache.migrate(four, cluster.address(1), SLOWLY));
            while (!migration.isDone()) {
                // The order matters: a region that is granted after the first look need not have begun at the second.
                int granted = REGIONS - cluster.freeRegions(1);
                long begun = four.stream().filter(this::hasBegunToMove).count();
                assertTrue(granted <= begun + 1, () -> granted + " regions are granted, and " + begun + " have begun");
                session.poll();
            }
            assertEquals(4, migration.join().regions());
        } finally {
            SoftverbsFaults.delayOperations(0);
        }
        checkContent();
    }

    private boolean hasBegunToMove(int region) {
        return cache.movedBytes(region) > 0 || cache.serverOf(region).equals(cluster.address(1));
    }

    @Test
    @Needs(Need.SOFTVERBS)
    void whatIsReadyIsGivenBackWhereTheOneBeforeItFails() throws Exception {
        cache.addServer(cluster.address(1));
        SoftverbsFaults.delayOperations(25_000_000);
        try {
            CompletableFuture<CacheException> migration = CompletableFuture.supplyAsync(
                    () -> assertThrows(CacheException.class, () -> cache.retire(cluster.address(0), SLOWLY, _ -> {})));
            // Waits until the first region moves, and another one has a region on the new server.
            while (!migration.isDone() && !(cache.movedBytes(0) > 0 && cluster.freeRegions(1) <= REGIONS - 2)) {
                session.poll();
            }
            SoftverbsFaults.failQueuePairsAfter(1);
            CacheException failed = polling(migration);
            assertTrue(failed.getMessage().startsWith("region 0 stays on "), failed::getMessage);
        } finally {
            SoftverbsFaults.failQueuePairsAfter(0);
            SoftverbsFaults.delayOperations(0);
        }
        // The part of the first region that has moved keeps its region on the new server.
        assertEquals(List.of(0, REGIONS - 1), List.of(cluster.freeRegions(0), cluster.freeRegions(1)));
        session.drain();
        checkContent();
    }
}
