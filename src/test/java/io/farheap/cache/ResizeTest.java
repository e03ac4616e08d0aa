package io.farheap.cache;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.cache.contract.CacheConfiguration;
import io.farheap.cache.contract.CacheException;
import io.farheap.cache.contract.Status;
import io.farheap.testing.Effort;
import io.farheap.testing.Need;
import io.farheap.testing.Needs;
import io.farheap.testing.TestDevice;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Caches whose capacity changes. */
@Needs(Need.SOFTVERBS)
class ResizeTest {

    private static final long REGION = Cluster.REGION_BYTES;
    private static final long PATIENCE_NANOS = TestDevice.patience(TimeUnit.SECONDS.toNanos(30));

    private final Cluster cluster = new Cluster(4, 4);

    @AfterEach
    void close() {
        cluster.close();
    }

    private Cache cache(long bytes, CacheConfiguration how) {
        return Cache.builder()
                .capacity(bytes)
                .servers(cluster.addresses())
                .configuration(how)
                .create();
    }

    private List<Integer> free() {
        return List.of(cluster.freeRegions(0), cluster.freeRegions(1));
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

    private static void refused(CacheSession session, Buffer buffer, long address) {
        assertThrows(IndexOutOfBoundsException.class, () -> read(session, buffer, address));
        assertThrows(IndexOutOfBoundsException.class, () -> write(session, buffer, address, 1));
        assertThrows(
                IndexOutOfBoundsException.class,
                () -> session.readAll(new long[] {0, address}, 2, buffer, 0, Long.BYTES, (_, _) -> {}, 0));
    }

    @ParameterizedTest
    @MethodSource("io.farheap.cache.Configurations#some")
    void aCacheGrowsAndShrinksUnderItsSessions(CacheConfiguration how) {
        try (Cache cache = cache(REGION + 8, how);
                CacheSession session = cache.openSession();
                Buffer buffer = cache.allocate(64)) {
            assertEquals(List.of(3, 3), free());
            write(session, buffer, REGION, 7);
            refused(session, buffer, REGION + 8);

            cache.reshape(4 * REGION);
            assertEquals(4 * REGION, cache.capacity());
            assertEquals(4, cache.regions());
            assertEquals(List.of(3, 1), free(), "the last region's server is asked first");
            assertEquals(7, read(session, buffer, REGION));
            for (long address = REGION + 8; address < 4 * REGION; address += REGION / 2) {
                assertEquals(0, read(session, buffer, address));
                write(session, buffer, address, address);
            }
            write(session, buffer, 4 * REGION - 8, 9);
            refused(session, buffer, 4 * REGION);

            cache.reshape(REGION + 16);
            assertEquals(2, cache.regions());
            assertEquals(List.of(3, 3), free());
            assertEquals(7, read(session, buffer, REGION));
            assertEquals(REGION + 8, read(session, buffer, REGION + 8));
            refused(session, buffer, REGION + 16);
            refused(session, buffer, 3 * REGION);

            cache.reshape(3 * REGION);
            assertEquals(REGION + 8, read(session, buffer, REGION + 8));
            for (long address = REGION + 16; address < 3 * REGION; address += Effort.either(104, 8)) {
                assertEquals(0, read(session, buffer, address), "what is new is zero, at " + address);
            }
            refused(session, buffer, 3 * REGION);
            cache.reshape(1);
            assertEquals(List.of(3, 4), free());
        }
        assertEquals(List.of(4, 4), free());
    }

    @Test
    void whatDoesNotFitChangesNothing() {
        try (Cache cache = cache(3 * REGION, Configurations.DIRECT);
                CacheSession session = cache.openSession();
                Buffer buffer = cache.allocate(64)) {
            write(session, buffer, 0, 7);
            List<Integer> before = free();
            String refused = assertThrows(CacheException.class, () -> cache.reshape(8 * REGION + 1))
                    .getMessage();
            assertTrue(refused.contains("needs 6 more regions, and its servers have 5"), refused);
            awaitFree(before);
            assertEquals(3 * REGION, cache.capacity());
            assertEquals(3, cache.regions());
            assertThrows(IllegalArgumentException.class, () -> cache.reshape(0));
            assertThrows(CacheException.class, () -> cache.reshape(Long.MAX_VALUE));
            cache.reshape(8 * REGION);
            assertEquals(List.of(0, 0), free());
            assertEquals(7, read(session, buffer, 0));
            write(session, buffer, 8 * REGION - 8, 8);
            assertEquals(8, read(session, buffer, 8 * REGION - 8));
        }
    }

    /** A list is a session's first request beyond the old end: finding the new regions forgets none of the old ones. */
    @ParameterizedTest
    @MethodSource("io.farheap.cache.Configurations#some")
    @Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void aListIsTheFirstRequestToWhatIsNew(CacheConfiguration how) {
        try (Cache cache = cache(REGION, how);
                Buffer buffer = cache.allocate(64)) {
            for (int regions = 2; regions <= 4; regions++) {
                int size = regions;
                CacheSession session = cache.openSession();
                CacheSession other = cache.openSession();
                cache.reshape(size * REGION);
                long[] addresses = LongStream.range(0, size)
                        .map(region -> region * REGION + 8)
                        .toArray();
                List<Integer> ends = new ArrayList<>();
                for (int record = 0; record < size; record++) {
                    buffer.segment().setAtIndex(JAVA_LONG, record, 10L * size + record);
                }
                assertTrue(session.writeAll(addresses, size, buffer, 0, 8, (_, status) -> ends.add(status), 0));
                session.drain();
                buffer.segment().fill((byte) -1);
                assertTrue(other.readAll(addresses, size, buffer, 0, 8, (_, status) -> ends.add(status), 0));
                other.drain();
                assertEquals(List.of(Status.OK, Status.OK), ends);
                for (int record = 0; record < size; record++) {
                    assertEquals(10L * size + record, buffer.segment().getAtIndex(JAVA_LONG, record));
                }
            }
        }
    }

    private void awaitFree(List<Integer> expected) {
        long deadline = System.nanoTime() + PATIENCE_NANOS;
        while (!free().equals(expected) && System.nanoTime() < deadline) {
            LockSupport.parkNanos(100_000);
        }
        assertEquals(expected, free());
    }

    @Test
    void serversThatComeLaterHaveRoomToo() {
        try (Cache cache = cache(7 * REGION, Configurations.BATCHED);
                CacheSession session = cache.openSession();
                Buffer buffer = cache.allocate(64)) {
            assertThrows(CacheException.class, () -> cache.reshape(12 * REGION));
            cache.addServer(cluster.add(4));
            cache.reshape(12 * REGION);
            write(session, buffer, 12 * REGION - 8, 5);
            assertEquals(5, read(session, buffer, 12 * REGION - 8));
            // The new regions move like the others.
            cache.migrate(11, cluster.address(2));
            assertEquals(5, read(session, buffer, 12 * REGION - 8));
        }
    }

    @ParameterizedTest
    @MethodSource("io.farheap.cache.Configurations#some")
    void requestsThatWereIssuedBeforeEndAsTheyAre(CacheConfiguration how) throws Exception {
        try (Cache cache = cache(4 * REGION, how);
                CacheSession session = cache.openSession();
                CacheSession other = cache.openSession();
                Buffer buffer = cache.allocate(64)) {
            List<Integer> ends = new ArrayList<>();
            buffer.segment().set(JAVA_LONG, 0, 3);
            // The first record is before the new end, and both records are one request.
            assertTrue(session.writeAll(
                    new long[] {0, 4 * REGION - 8}, 2, buffer, 0, Long.BYTES, (_, status) -> ends.add(status), 0));
            CompletableFuture<Void> smaller = CompletableFuture.runAsync(() -> cache.reshape(REGION));
            while (cache.capacity() != REGION) {
                Thread.onSpinWait();
            }
            // Other requests continue, and those beyond the new end are refused at once.
            try (Buffer mine = cache.allocate(64)) {
                write(other, mine, 8, 4);
                assertEquals(4, read(other, mine, 8));
                refused(other, mine, REGION);
            }
            assertFalse(smaller.isDone());
            while (ends.isEmpty()) {
                session.poll();
                Thread.onSpinWait();
            }
            assertEquals(List.of(Status.OK), ends);
            smaller.get(PATIENCE_NANOS, TimeUnit.NANOSECONDS);
            assertEquals(1, cache.regions());
        }
    }

    @Test
    void aSessionThatDoesNotPollKeepsTheCapacity() {
        try (Cache cache = cache(2 * REGION, Configurations.DIRECT);
                CacheSession session = cache.openSession();
                Buffer buffer = cache.allocate(64)) {
            assertTrue(session.read(REGION, buffer, 0, 8, (_, _) -> {}, 0));
            String refused = assertThrows(CacheException.class, () -> cache.reshape(REGION))
                    .getMessage();
            assertTrue(refused.contains("pending beyond"), refused);
            assertEquals(2 * REGION, cache.capacity());
            session.drain();
            write(session, buffer, REGION, 5);
            cache.reshape(REGION);
            refused(session, buffer, REGION);
        }
    }

    @Test
    void capacityAndObjectiveNeedAnObjective() {
        try (Cache cache = cache(REGION, Configurations.DIRECT)) {
            assertThrows(
                    IllegalStateException.class,
                    () -> cache.reshape(
                            2 * REGION,
                            new io.farheap.slo.Slo(io.farheap.slo.Objective.NONE, io.farheap.slo.Objective.NONE)));
            assertEquals(REGION, cache.capacity());
        }
    }
}
