package io.farheap.cache;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import io.farheap.cache.contract.CacheConfiguration;
import io.farheap.cache.contract.Completion;
import io.farheap.cache.contract.Status;
import io.farheap.testing.Need;
import io.farheap.testing.Needs;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;

/** Migrations that meet operations which the device executes late. */
@Needs(Need.SOFTVERBS)
@ParameterizedClass(name = "{0}")
@MethodSource("io.farheap.cache.Configurations#ownThread")
class SlowDeviceTest {

    @Parameter
    private CacheConfiguration configuration;

    private static final long LATE_NANOS = 500_000_000L;
    /** The delay of the first try. */
    private static final long FIRST_NANOS = LATE_NANOS / 5;
    /** The longest delay: a migration, which gives up after ten seconds, can wait for three such operations in turn. */
    private static final long LATEST_NANOS = 4 * LATE_NANOS;

    private static final int MOST_MIGRATIONS = 20;

    private static final long NONE = -1;
    private static final long READ = Long.MAX_VALUE;

    private Cluster cluster;
    private Cache cache;
    private CacheSession session;
    private Buffer buffer;
    /** The token of the last write; a test may use the tokens after it. */
    private long lastToken;

    private final List<Long> order = new ArrayList<>();
    private final Completion record = (token, status) -> {
        assertEquals(Status.OK, status);
        order.add(token);
    };

    @BeforeEach
    void create() {
        cluster = new Cluster(4, 4);
        cache = Cache.builder()
                .capacity(2 * Cluster.REGION_BYTES)
                .servers(cluster.address(0))
                .configuration(configuration)
                .create();
        cache.addServer(cluster.address(1));
        session = cache.openSession();
        buffer = cache.allocate(4096);
    }

    @AfterEach
    void close() {
        SoftverbsFaults.delayOperations(0);
        cache.close();
        cluster.close();
    }

    @Test
    void aWriteThatIsInFlightIsCopied() {
        buffer.segment().set(JAVA_LONG, 0, 77);
        SoftverbsFaults.delayOperations(LATE_NANOS);
        session.write(0, buffer, 0, 8, record, 1);
        SoftverbsFaults.delayOperations(0);
        cache.migrate(0, cluster.address(1));
        session.drain();
        session.readBlocking(0, buffer, 8, 8);
        assertEquals(77, buffer.segment().get(JAVA_LONG, 8));
    }

    @Test
    void aReadOfTheOldCopyCompletesBeforeThatIsZeroed() throws Exception {
        buffer.segment().set(JAVA_LONG, 0, 77);
        session.writeBlocking(64, buffer, 0, 8);
        whileTheRegionMoves((migration, source, late) -> {
            int free = cluster.freeRegions(source);
            if (awaitHeldWrite(migration) == NONE) {
                return false;
            }
            // The copy ends long before this read of the old region does.
            SoftverbsFaults.delayOperations(4 * late);
            buffer.segment().set(JAVA_LONG, 8, 0);
            session.read(64, buffer, 8, 8, record, READ);
            SoftverbsFaults.delayOperations(0);
            boolean begun = !migration.isDone();
            migration.get();
            session.drain();
            assertEquals(77, buffer.segment().get(JAVA_LONG, 8));
            assertEquals(free + 1, cluster.freeRegions(source));
            return begun;
        });
    }

    @Test
    void writesToTheMovingRegionWaitAndHoldBackNothingElse() throws Exception {
        whileTheRegionMoves((migration, source, late) -> {
            long heldWrite = awaitHeldWrite(migration);
            SoftverbsFaults.delayOperations(0);
            if (heldWrite == NONE) {
                return false;
            }
            long behindHeld = heldWrite + 1;
            long sameRegion = heldWrite + 2;
            long otherRegion = heldWrite + 3;
            lastToken = otherRegion;
            assertTrue(session.read(0, buffer, 8, 8, record, behindHeld));
            assertTrue(session.read(64, buffer, 16, 8, record, sameRegion));
            assertTrue(session.write(Cluster.REGION_BYTES, buffer, 0, 8, record, otherRegion));
            while (!order.contains(otherRegion)) {
                session.poll();
            }
            assertTrue(
                    order.contains(sameRegion) && order.indexOf(sameRegion) < order.indexOf(otherRegion),
                    "issue order: " + order);
            boolean moving = !order.contains(heldWrite) && !order.contains(behindHeld);
            // Held requests continue only when the region is in its new place.
            assertTrue(moving || cache.serverOf(0).equals(cluster.address(1 - source)), "held: " + order);
            moving &= !migration.isDone();
            migration.get();
            session.drain();
            assertTrue(order.indexOf(heldWrite) < order.indexOf(behindHeld), "order among the held: " + order);
            assertEquals(heldWrite, buffer.segment().get(JAVA_LONG, 8));
            return moving;
        });
    }

    private interface Meeting {

        /** @return whether it met the migration on its way */
        boolean happens(CompletableFuture<Void> migration, int source, long late) throws Exception;
    }

    /**
     * Moves the first region with a late copy. On a busy machine this thread may have to wait for its turn: if the
     * region has moved before this thread runs, it moves back, with a longer delay.
     */
    private void whileTheRegionMoves(Meeting meeting) throws Exception {
        for (int i = 0; i < MOST_MIGRATIONS; i++) {
            int source = i % 2;
            long late = Math.min(FIRST_NANOS << i, LATEST_NANOS);
            order.clear();
            SoftverbsFaults.delayOperations(late);
            CompletableFuture<Void> migration =
                    CompletableFuture.runAsync(() -> cache.migrate(0, cluster.address(1 - source)));
            boolean met = meeting.happens(migration, source, late);
            SoftverbsFaults.delayOperations(0);
            migration.get();
            session.drain();
            if (met) {
                return;
            }
        }
        fail("each of " + MOST_MIGRATIONS + " migrations was over before anything could happen meanwhile");
    }

    /**
     * Writes to the moving region, one after the other, until one is held.
     *
     * @return the token of the held write, which is also its value; {@link #NONE} if the region has moved
     */
    private long awaitHeldWrite(CompletableFuture<Void> migration) {
        while (true) {
            buffer.segment().set(JAVA_LONG, 0, ++lastToken);
            assertTrue(session.write(0, buffer, 0, 8, record, lastToken));
            while (session.pending() > 0) {
                if (session.held() > 0) {
                    return lastToken;
                }
                session.poll();
            }
            if (migration.isDone()) {
                return NONE;
            }
        }
    }

    @Test
    void aBlockedWriterSleepsUntilItsRegionHasMoved() throws Exception {
        session.close();
        SoftverbsFaults.delayOperations(LATE_NANOS);
        CompletableFuture<Void> migration = CompletableFuture.runAsync(() -> cache.migrate(0, cluster.address(1)));
        CountDownLatch wrote = new CountDownLatch(1);
        AtomicBoolean stop = new AtomicBoolean();
        Thread writer = Thread.ofVirtual().start(() -> {
            try (CacheSession own = cache.openSession();
                    Buffer bytes = cache.allocate(8)) {
                for (long value = 1; !stop.get(); value++) {
                    bytes.segment().set(JAVA_LONG, 0, value);
                    own.writeBlocking(0, bytes, 0, 8);
                    own.readBlocking(0, bytes, 0, 8);
                    assertEquals(value, bytes.segment().get(JAVA_LONG, 0));
                }
                wrote.countDown();
            }
        });
        SoftverbsFaults.delayOperations(0);
        migration.get();
        stop.set(true);
        wrote.await();
        writer.join();
    }
}
