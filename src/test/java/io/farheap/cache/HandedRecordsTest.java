package io.farheap.cache;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.cache.contract.CacheConfiguration;
import io.farheap.cache.contract.Completion;
import io.farheap.cache.contract.Status;
import io.farheap.testing.Effort;
import io.farheap.testing.Need;
import io.farheap.testing.Needs;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;

/** Requests for many records of sessions that share a client thread, whose own session has no room for all of them. */
@ParameterizedClass(name = "{0}")
@MethodSource("oneClientThread")
class HandedRecordsTest {

    private static final int REQUESTS = 64;
    private static final int RECORDS = REQUESTS / 2;

    @Parameter
    private CacheConfiguration configuration;

    private Cluster cluster;
    private Cache cache;

    static Stream<CacheConfiguration> oneClientThread() {
        return Stream.of(CacheConfiguration.DIRECT.with(1, 0, 1, 8), CacheConfiguration.DIRECT.with(1, 1, 16, 4));
    }

    @BeforeEach
    void create() {
        cluster = new Cluster(4, 4);
        cache = Cache.builder()
                .capacity(4 * Cluster.REGION_BYTES)
                .servers(cluster.addresses())
                .requests(REQUESTS)
                .configuration(configuration)
                .create();
    }

    @AfterEach
    void close() {
        cache.close();
        cluster.close();
    }

    @Test
    void sessionsThatShareAThreadReadBackWhatTheyWrote() {
        List<CompletableFuture<Void>> sessions = IntStream.range(0, 3)
                .mapToObj(session -> CompletableFuture.runAsync(() -> writeAndRead(session, Effort.count(400))))
                .toList();
        sessions.forEach(CompletableFuture::join);
    }

    private void writeAndRead(int session, int rounds) {
        // The addresses are in all regions, and no other session uses them.
        long[] addresses = LongStream.range(0, RECORDS)
                .map(i -> i * (Cluster.REGION_BYTES / 8 + 24) + session * 8L)
                .toArray();
        int[] called = {0};
        Completion count = (token, status) -> {
            assertEquals(Status.OK, status);
            assertEquals(called[0]++, token);
        };
        try (CacheSession own = cache.openSession();
                Buffer buffer = cache.allocate(4 * RECORDS * 8)) {
            int issued = 0;
            for (int round = 0; round < rounds; round++) {
                for (int i = 0; i < RECORDS; i++) {
                    buffer.segment().setAtIndex(JAVA_LONG, i, (long) round << 32 | i);
                }
                while (!own.writeAll(addresses, RECORDS, buffer, 0, 8, count, issued)) {
                    own.awaitProgress();
                }
                issued++;
                // The read follows while the write is on its way.
                while (!own.readAll(addresses, RECORDS, buffer, RECORDS * 8, 8, count, issued)) {
                    own.awaitProgress();
                }
                issued++;
                own.drain();
                assertEquals(
                        -1,
                        buffer.segment()
                                .asSlice(0, RECORDS * 8)
                                .mismatch(buffer.segment().asSlice(RECORDS * 8, RECORDS * 8)),
                        "round " + round);
            }
            assertEquals(issued, called[0]);
        }
    }

    @Test
    @Needs(Need.LATE_OPERATIONS)
    void recordsThatFindNoRoomTogetherGoOneByOne() {
        long[] addresses = LongStream.range(0, RECORDS)
                .map(i -> Cluster.REGION_BYTES - 64 + i * 24)
                .toArray();
        try (CacheSession first = cache.openSession();
                CacheSession second = cache.openSession();
                Buffer buffer = cache.allocate(4096)) {
            for (int i = 0; i < RECORDS; i++) {
                buffer.segment().setAtIndex(JAVA_LONG, i, i + 1);
                second.writeBlocking(addresses[i], buffer, i * 8L, 8);
            }
            List<Integer> statuses = new ArrayList<>();
            fillLate(
                    first,
                    buffer,
                    () -> assertTrue(second.readAll(
                            addresses, RECORDS, buffer, 1024, 8, (token, status) -> statuses.add(status), 0)));
            second.drain();
            first.drain();
            assertEquals(List.of(Status.OK), statuses);
            assertEquals(
                    -1,
                    buffer.segment()
                            .asSlice(0, RECORDS * 8)
                            .mismatch(buffer.segment().asSlice(1024, RECORDS * 8)));
        }
    }

    @Test
    @Needs(Need.LATE_OPERATIONS)
    void recordsThatWaitForRoomEndWhenTheirSessionCloses() {
        List<Integer> statuses = new ArrayList<>();
        long[] addresses = LongStream.range(0, RECORDS).map(i -> i * 8).toArray();
        try (CacheSession first = cache.openSession();
                Buffer buffer = cache.allocate(4096)) {
            CacheSession second = cache.openSession();
            fillLate(
                    first,
                    buffer,
                    () -> assertTrue(second.readAll(
                            addresses, RECORDS, buffer, 1024, 8, (token, status) -> statuses.add(status), 0)));
            second.close();
            assertEquals(1, statuses.size());
            assertTrue(
                    statuses.get(0) == Status.OK || statuses.get(0) == Status.CLOSED, Status.describe(statuses.get(0)));
            first.drain();
        }
    }

    /** The records take slots that had other requests before, which used another buffer. */
    @Test
    @Needs(Need.LATE_OPERATIONS)
    void recordsUseTheBufferOfTheirRequestAlone() {
        long[] addresses = LongStream.range(0, RECORDS).map(i -> i * 8).toArray();
        try (CacheSession session = cache.openSession();
                Buffer second = cache.allocate(4096)) {
            Buffer first = cache.allocate(4096);
            for (int i = 0; i < REQUESTS; i++) {
                assertTrue(
                        session.read(i * 8L, first, i * 8L, 8, (token, status) -> assertEquals(Status.OK, status), i));
            }
            session.drain();
            LateOperations.by(300, TimeUnit.MILLISECONDS);
            try {
                assertTrue(session.readAll(
                        addresses, RECORDS, second, 0, 8, (token, status) -> assertEquals(Status.OK, status), 0));
                first.close();
                assertThrows(IllegalStateException.class, second::close);
            } finally {
                LateOperations.no();
            }
            session.drain();
        }
    }

    /** Makes late requests that leave the client thread no room for a while. */
    private static void fillLate(CacheSession session, Buffer buffer, Runnable meanwhile) {
        LateOperations.by(300, TimeUnit.MILLISECONDS);
        try {
            for (int i = 0; i < REQUESTS; i++) {
                assertTrue(session.write(
                        2 * Cluster.REGION_BYTES + i * 8L,
                        buffer,
                        2048,
                        8,
                        (token, status) -> assertEquals(Status.OK, status),
                        i));
            }
            meanwhile.run();
        } finally {
            LateOperations.no();
        }
    }
}
