package io.farheap.cache;

import io.farheap.testing.Need;
import io.farheap.testing.Needs;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Migrations that meet operations which the device executes late. */
@Timeout(60)
@Needs(Need.SOFTVERBS)
@ParameterizedClass(name = "{0}")
@MethodSource("io.farheap.cache.Configurations#ownThread")
class SlowDeviceTest {

    @Parameter
    private CacheConfiguration configuration;

    private static final long LATE_NANOS = 500_000_000L;

    private Cluster cluster;
    private Cache cache;
    private Session session;
    private Buffer buffer;
    private final List<Long> order = new ArrayList<>();
    private final Completion record = (token, status) -> {
        assertEquals(Status.OK, status);
        order.add(token);
    };

    @BeforeEach
    void create() {
        cluster = new Cluster(4, 4);
        cache = Cache.builder().capacity(2 * Cluster.REGION_BYTES).servers(cluster.address(0)).configuration(configuration).create();
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
        CompletableFuture<Void> migration = migrateSlowly();
        awaitHeldWrite(migration);
        // The copy ends long before this read of the old region does.
        SoftverbsFaults.delayOperations(4 * LATE_NANOS);
        session.read(64, buffer, 8, 8, record, 100);
        SoftverbsFaults.delayOperations(0);
        migration.get();
        session.drain();
        assertEquals(77, buffer.segment().get(JAVA_LONG, 8));
        assertEquals(4 - 1, cluster.freeRegions(0));
    }

    @Test
    void writesToTheMovingRegionWaitAndHoldBackNothingElse() throws Exception {
        CompletableFuture<Void> migration = migrateSlowly();
        long heldWrite = awaitHeldWrite(migration);
        SoftverbsFaults.delayOperations(0);
        long behindHeld = heldWrite + 1;
        long sameRegion = heldWrite + 2;
        long otherRegion = heldWrite + 3;
        assertTrue(session.read(0, buffer, 8, 8, record, behindHeld));
        assertTrue(session.read(64, buffer, 16, 8, record, sameRegion));
        assertTrue(session.write(Cluster.REGION_BYTES, buffer, 0, 8, record, otherRegion));
        while (!order.contains(otherRegion)) {
            session.poll();
        }
        assertTrue(order.contains(sameRegion) && order.indexOf(sameRegion) < order.indexOf(otherRegion), "issue order: " + order);
        assertTrue(!order.contains(heldWrite) && !order.contains(behindHeld), "held: " + order);
        assertFalse(migration.isDone());
        migration.get();
        session.drain();
        assertTrue(order.indexOf(heldWrite) < order.indexOf(behindHeld), "order among the held: " + order);
        assertEquals(heldWrite, buffer.segment().get(JAVA_LONG, 8));
    }

    /** Operations posted from now on are late, so the copy takes its time. */
    private CompletableFuture<Void> migrateSlowly() {
        SoftverbsFaults.delayOperations(LATE_NANOS);
        return CompletableFuture.runAsync(() -> cache.migrate(0, cluster.address(1)));
    }

    /** Writes to the moving region, one after the other, until one is held. @return its token, which is also what it writes */
    private long awaitHeldWrite(CompletableFuture<Void> migration) {
        long token = 0;
        while (true) {
            buffer.segment().set(JAVA_LONG, 0, ++token);
            assertTrue(session.write(0, buffer, 0, 8, record, token));
            while (session.pending() > 0) {
                assertFalse(migration.isDone(), "no write was held while the region moved");
                if (session.held() > 0) {
                    return token;
                }
                session.poll();
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
            try (Session own = cache.openSession(); Buffer bytes = cache.allocate(8)) {
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
