package io.farheap.cache;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.cache.contract.CacheException;
import io.farheap.cache.contract.Completion;
import io.farheap.cache.contract.Status;
import io.farheap.testing.Effort;
import io.farheap.testing.TestDevice;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;

@ParameterizedClass(name = "{0}")
@MethodSource("io.farheap.cache.Configurations#someAndCodedInFull")
class CacheSessionTest {

    @Parameter
    private Configurations.Way way;

    private static final int REGIONS = 6;
    private static final long CAPACITY = REGIONS * Cluster.REGION_BYTES - 100;
    private static final Completion IGNORE = (token, status) -> assertEquals(Status.OK, status);

    private Cluster cluster;
    private Cache cache;
    private CacheSession session;
    private Buffer buffer;

    @BeforeEach
    void create() {
        cluster = new Cluster(REGIONS, REGIONS, REGIONS);
        cache = way.builder()
                .capacity(CAPACITY)
                .servers(cluster.addresses())
                .requests(64)
                .create();
        session = cache.openSession();
        buffer = cache.allocate(1 << 20);
    }

    @AfterEach
    void close() {
        cache.close();
        cluster.close();
    }

    @Test
    void anyRangeReadsBackAsItWasWritten() {
        SplittableRandom random = new SplittableRandom(42);
        byte[] shadow = new byte[(int) CAPACITY];
        for (int i = 0; i < Effort.count(300); i++) {
            int length = 1 + random.nextInt(random.nextBoolean() ? 100 : 200_000);
            int address = random.nextInt((int) CAPACITY - length + 1);
            byte[] bytes = new byte[length];
            random.nextBytes(bytes);
            System.arraycopy(bytes, 0, shadow, address, length);
            if (random.nextBoolean()) {
                int offset = random.nextInt(1000);
                MemorySegment.copy(bytes, 0, buffer.segment(), JAVA_BYTE, offset, length);
                session.writeBlocking(address, buffer, offset, length);
            } else {
                session.writeBlocking(address, MemorySegment.ofArray(bytes));
            }
        }
        byte[] read = new byte[shadow.length];
        session.readBlocking(0, MemorySegment.ofArray(read));
        assertEquals(-1, MemorySegment.ofArray(shadow).mismatch(MemorySegment.ofArray(read)));
        session.readBlocking(0, buffer, 0, CAPACITY);
        assertEquals(-1, MemorySegment.ofArray(shadow).mismatch(buffer.segment().asSlice(0, CAPACITY)));
    }

    @Test
    void recordsOfOneRequestReadBackAsTheyWereWritten() {
        SplittableRandom random = new SplittableRandom(43);
        byte[] shadow = new byte[(int) CAPACITY];
        int[] called = new int[1];
        for (int i = 0; i < Effort.count(300); i++) {
            // Up to 32 records, more than the queue depth, some of which cross regions. Their addresses are distinct
            // multiples of their length, so that none overlap.
            int count = 1 + random.nextInt(32);
            int length = 1 + random.nextInt(random.nextBoolean() ? 16 : 2_000);
            long[] addresses = random.longs(count, 0, CAPACITY - length + 1)
                    .map(a -> a / length * length)
                    .distinct()
                    .toArray();
            byte[] bytes = new byte[addresses.length * length];
            random.nextBytes(bytes);
            for (int record = 0; record < addresses.length; record++) {
                System.arraycopy(bytes, record * length, shadow, (int) addresses[record], length);
            }
            MemorySegment.copy(bytes, 0, buffer.segment(), JAVA_BYTE, 100, bytes.length);
            while (!session.writeAll(
                    addresses,
                    addresses.length,
                    buffer,
                    100,
                    length,
                    (token, status) -> called[0] += status == Status.OK ? 1 : 0,
                    0)) {
                session.awaitProgress();
            }
            buffer.segment().asSlice(100_000, bytes.length).fill((byte) 0);
            while (!session.readAll(
                    addresses,
                    addresses.length,
                    buffer,
                    100_000,
                    length,
                    (token, status) -> called[0] += status == Status.OK ? 1 : 0,
                    0)) {
                session.awaitProgress();
            }
            session.drain();
            assertEquals(2 * (i + 1), called[0]);
            assertEquals(
                    -1,
                    MemorySegment.ofArray(bytes).mismatch(buffer.segment().asSlice(100_000, bytes.length)),
                    "round " + i);
        }
        session.readBlocking(0, buffer, 0, CAPACITY);
        assertEquals(-1, MemorySegment.ofArray(shadow).mismatch(buffer.segment().asSlice(0, CAPACITY)));
    }

    @Test
    void aRequestMayHaveMoreRecordsThanAllBatchesHold() {
        int records = 500;
        long[] addresses = LongStream.range(0, records).map(i -> i * 24).toArray();
        try (Cache large = way.builder()
                        .capacity(Cluster.REGION_BYTES)
                        .servers(cluster.addresses())
                        .requests(1024)
                        .create();
                CacheSession other = large.openSession();
                Buffer memory = large.allocate(2L * records * 8)) {
            for (int i = 0; i < records; i++) {
                memory.segment().setAtIndex(JAVA_LONG, i, i + 1);
            }
            int[] called = new int[1];
            Completion count = (token, status) -> called[0] += status == Status.OK ? 1 : 100;
            while (!other.writeAll(addresses, records, memory, 0, 8, count, 0)) {
                other.awaitProgress();
            }
            while (!other.readAll(addresses, records, memory, records * 8L, 8, count, 0)) {
                other.awaitProgress();
            }
            other.drain();
            assertEquals(2, called[0]);
            for (int i = 0; i < records; i++) {
                assertEquals(i + 1, memory.segment().getAtIndex(JAVA_LONG, records + i));
            }
        }
    }

    @Test
    void aBufferIsInUseUntilAllOfManyRecordsAreThere() {
        long[] addresses = {0, 8, CAPACITY - 8, CAPACITY / 2, 16};
        try (Buffer other = cache.allocate(4096)) {
            for (boolean write : new boolean[] {true, false}) {
                boolean[] called = {false};
                Completion whenDone = (token, status) -> called[0] = status == Status.OK && token == 5;
                assertTrue(
                        write
                                ? session.writeAll(addresses, 5, other, 0, 8, whenDone, 5)
                                : session.readAll(addresses, 5, other, 0, 8, whenDone, 5));
                if (session.pending() > 0) {
                    assertThrows(IllegalStateException.class, other::close);
                }
                session.drain();
                assertTrue(called[0]);
            }
        }
    }

    @Test
    void requestsForManyRecordsAreChecked() {
        long[] addresses = new long[64];
        assertThrows(IllegalArgumentException.class, () -> session.readAll(addresses, 0, buffer, 0, 8, IGNORE, 0));
        assertThrows(IllegalArgumentException.class, () -> session.readAll(addresses, 33, buffer, 0, 8, IGNORE, 0));
        assertThrows(IllegalArgumentException.class, () -> session.readAll(new long[1], 2, buffer, 0, 8, IGNORE, 0));
        assertThrows(
                IndexOutOfBoundsException.class,
                () -> session.readAll(addresses, 32, buffer, buffer.bytes() - 255, 8, IGNORE, 0));
        assertThrows(IndexOutOfBoundsException.class, () -> session.writeAll(addresses, 2, buffer, 0, 0, IGNORE, 0));
        assertThrows(
                IndexOutOfBoundsException.class,
                () -> session.writeAll(new long[] {0, CAPACITY - 7}, 2, buffer, 0, 8, IGNORE, 0));
        assertThrows(NullPointerException.class, () -> session.writeAll(addresses, 2, buffer, 0, 8, null, 0));
        assertEquals(0, session.pending());
    }

    @Test
    void freshMemoryIsZero() {
        session.readBlocking(0, buffer, 0, CAPACITY);
        assertEquals(
                -1, buffer.segment().asSlice(0, CAPACITY).mismatch(MemorySegment.ofArray(new byte[(int) CAPACITY])));
    }

    @Test
    void callbacksComeInTheOrderOfIssue() {
        List<Long> order = new ArrayList<>();
        Completion record = (token, status) -> order.add(token);
        SplittableRandom random = new SplittableRandom(7);
        long issued = 0;
        while (issued < Effort.count(2_000)) {
            int length = 1 + random.nextInt(100_000);
            long address = random.nextLong(CAPACITY - length);
            boolean accepted = random.nextBoolean()
                    ? session.read(address, buffer, 0, length, record, issued)
                    : session.write(address, buffer, 200_000, length, record, issued);
            if (accepted) {
                issued++;
            } else {
                session.awaitProgress();
            }
        }
        session.drain();
        for (long i = 0; i < issued; i++) {
            assertEquals(i, order.get((int) i));
        }
    }

    @Test
    void aFullQueueIsAReturnCodeAndLosesNothing() {
        int[] called = new int[1];
        Completion count = (token, status) -> called[0]++;
        int accepted = 0;
        while (session.read(0, buffer, 0, 8, count, 0)) {
            accepted++;
        }
        assertEquals(64, accepted);
        assertEquals(64, session.pending());
        session.drain();
        assertEquals(64, called[0]);
        assertTrue(session.read(0, buffer, 0, 8, count, 0));
    }

    @Test
    void aCallbackMayIssueRequestsButNotPoll() {
        List<String> seen = new ArrayList<>();
        session.read(
                0,
                buffer,
                0,
                8,
                (token, status) -> {
                    assertThrows(IllegalStateException.class, session::poll);
                    assertThrows(IllegalStateException.class, () -> session.readBlocking(0, buffer, 0, 8));
                    assertThrows(IllegalStateException.class, session::close);
                    assertThrows(IllegalStateException.class, session::release);
                    assertThrows(IllegalStateException.class, buffer::close);
                    assertThrows(IllegalStateException.class, cache::close);
                    assertThrows(IllegalStateException.class, cache::openSession);
                    assertThrows(IllegalStateException.class, () -> cache.migrate(0, cluster.address(1)));
                    assertTrue(session.read(8, buffer, 8, 8, (inner, innerStatus) -> seen.add("inner"), 0));
                    seen.add("outer");
                },
                0);
        session.drain();
        assertEquals(List.of("outer", "inner"), seen);
    }

    @Test
    void anExceptionOfACallbackComesOutOfPollAndHarmsNothingElse() {
        int[] called = new int[1];
        session.read(
                0,
                buffer,
                0,
                8,
                (token, status) -> {
                    throw new UnsupportedOperationException("mine");
                },
                0);
        session.read(8, buffer, 8, 8, (token, status) -> called[0]++, 0);
        assertThrows(UnsupportedOperationException.class, session::drain);
        session.drain();
        assertEquals(1, called[0]);
        assertEquals(0, session.pending());
    }

    @Test
    void rangesAreChecked() {
        assertThrows(IndexOutOfBoundsException.class, () -> session.read(-1, buffer, 0, 8, IGNORE, 0));
        assertThrows(IndexOutOfBoundsException.class, () -> session.read(CAPACITY - 7, buffer, 0, 8, IGNORE, 0));
        assertThrows(IndexOutOfBoundsException.class, () -> session.read(Long.MAX_VALUE, buffer, 0, 8, IGNORE, 0));
        assertThrows(IndexOutOfBoundsException.class, () -> session.read(0, buffer, 0, 0, IGNORE, 0));
        assertThrows(IndexOutOfBoundsException.class, () -> session.read(0, buffer, 0, -1, IGNORE, 0));
        assertThrows(IndexOutOfBoundsException.class, () -> session.read(0, buffer, -1, 8, IGNORE, 0));
        assertThrows(IndexOutOfBoundsException.class, () -> session.read(0, buffer, buffer.bytes() - 7, 8, IGNORE, 0));
        assertThrows(NullPointerException.class, () -> session.read(0, buffer, 0, 8, null, 0));
        assertThrows(
                IllegalArgumentException.class,
                () -> session.read(0, MemorySegment.ofArray(new byte[8]).asReadOnly(), IGNORE, 0));
        session.readBlocking(CAPACITY - 1, buffer, 0, 1);
    }

    @Test
    void anotherThreadIsRefusedUntilTheSessionIsReleased() throws InterruptedException {
        session.readBlocking(0, buffer, 0, 8);
        AtomicReference<Throwable> thrown = new AtomicReference<>();
        Runnable use = () -> {
            try {
                session.readBlocking(0, buffer, 0, 8);
                session.release();
                thrown.set(null);
            } catch (Throwable e) {
                thrown.set(e);
            }
        };
        Thread.ofPlatform().start(use).join();
        assertTrue(thrown.get() instanceof IllegalStateException, String.valueOf(thrown.get()));
        session.release();
        Thread.ofPlatform().start(use).join();
        assertNull(thrown.get());
        Thread.ofVirtual().start(use).join();
        assertNull(thrown.get());
        session.readBlocking(0, buffer, 0, 8);
    }

    @Test
    void aThreadThatDoesNotOwnASessionDoesNotCloseIt() throws InterruptedException {
        session.writeBlocking(0, buffer, 0, 8);
        assertTrue(session.read(0, buffer, 8, 8, IGNORE, 0));
        AtomicReference<Throwable> thrown = new AtomicReference<>();
        Runnable close = () -> {
            try {
                session.close();
                thrown.set(null);
            } catch (Throwable e) {
                thrown.set(e);
            }
        };
        Thread.ofPlatform().start(close).join();
        assertTrue(thrown.get() instanceof IllegalStateException, String.valueOf(thrown.get()));
        // Nothing has changed: the request is still pending, and others can be made.
        assertEquals(1, session.pending());
        session.drain();
        session.readBlocking(0, buffer, 16, 8);
        assertEquals(buffer.segment().get(JAVA_LONG, 0), buffer.segment().get(JAVA_LONG, 16));
        session.release();
        Thread.ofPlatform().start(close).join();
        assertNull(thrown.get());
        assertThrows(IllegalStateException.class, () -> session.readBlocking(0, buffer, 0, 8));
        session.close();
    }

    @Test
    void aSessionOfAThreadThatEndedIsClosedByAnother() throws InterruptedException {
        CacheSession left = cache.openSession();
        Thread.ofPlatform().start(() -> left.readBlocking(0, buffer, 0, 8)).join();
        left.close();
        assertThrows(IllegalStateException.class, () -> left.readBlocking(0, buffer, 0, 8));
    }

    @Test
    void aBufferInUseIsNotClosed() {
        session.read(0, buffer, 0, 8, IGNORE, 0);
        assertThrows(IllegalStateException.class, buffer::close);
        session.drain();
        buffer.close();
        buffer.close();
        assertThrows(IllegalStateException.class, () -> session.read(0, buffer, 0, 8, IGNORE, 0));
        assertThrows(IllegalStateException.class, () -> buffer.segment().get(JAVA_LONG, 0));
    }

    @Test
    void aSegmentThatIsClosedMeanwhileEndsInAStatus() {
        Arena arena = Arena.ofShared();
        int[] ended = {-1};
        session.read(0, arena.allocate(64), (token, status) -> ended[0] = status, 0);
        arena.close();
        session.drain();
        // A client thread may have been faster.
        assertTrue(
                ended[0] == Status.SEGMENT_GONE || way.configuration().clientThreads() > 0 && ended[0] == Status.OK,
                "status " + ended[0]);
    }

    @Test
    void closingCallsBackWhatIsPending() {
        List<Integer> statuses = new ArrayList<>();
        while (session.write(0, buffer, 0, CAPACITY, (token, status) -> statuses.add(status), 0)) {
            assertTrue(statuses.isEmpty());
        }
        session.close();
        assertEquals(64, statuses.size());
        // Client threads may have taken all requests, and finish the requests that they take.
        assertTrue(way.configuration().clientThreads() > 0 || statuses.contains(Status.CLOSED));
        assertTrue(statuses.stream().allMatch(status -> status == Status.OK || status == Status.CLOSED));
        session.close();
        assertThrows(IllegalStateException.class, session::poll);
        assertThrows(IllegalStateException.class, () -> session.read(0, buffer, 0, 8, IGNORE, 0));
    }

    @Test
    void aDeletedCacheRefusesEverything() {
        session.readBlocking(0, buffer, 0, 8);
        cache.delete();
        cache.delete();
        assertThrows(IllegalStateException.class, session::poll);
        assertThrows(IllegalStateException.class, () -> session.read(0, buffer, 0, 8, IGNORE, 0));
        assertThrows(IllegalStateException.class, cache::openSession);
        assertThrows(IllegalStateException.class, () -> cache.allocate(8));
        assertEquals(REGIONS, cluster.freeRegions(0));
        assertEquals(REGIONS, cluster.freeRegions(1));
        assertEquals(REGIONS, cluster.freeRegions(2));
    }

    @Test
    void aVirtualThreadParksAndGetsItsData() throws InterruptedException {
        AtomicReference<Throwable> thrown = new AtomicReference<>();
        Thread thread = Thread.ofVirtual().start(() -> {
            try (CacheSession own = cache.openSession()) {
                MemorySegment bytes = MemorySegment.ofArray(new long[] {11, 22, 33});
                for (int i = 0; i < 100; i++) {
                    own.writeBlocking(Cluster.REGION_BYTES - 8, bytes);
                    MemorySegment read = MemorySegment.ofArray(new long[3]);
                    own.readBlocking(Cluster.REGION_BYTES - 8, read);
                    assertEquals(-1, bytes.mismatch(read));
                }
            } catch (Throwable e) {
                thrown.set(e);
            }
        });
        thread.join();
        assertNull(thrown.get());
    }

    @Test
    void futuresCompleteOrFail() {
        try (FutureCacheSession futures = cache.openFutureSession()) {
            MemorySegment read = MemorySegment.ofArray(new long[2]);
            futures.write(100, MemorySegment.ofArray(new long[] {5, 6}))
                    .thenCompose(done -> futures.read(100, read))
                    .join();
            assertEquals(5, read.get(JAVA_LONG, 0));
            Throwable cause = assertThrows(CompletionException.class, () -> futures.read(CAPACITY, read)
                            .join())
                    .getCause();
            assertSame(IndexOutOfBoundsException.class, cause.getClass());
            futures.close();
            assertTrue(futures.read(0, read).isCompletedExceptionally());
        }
    }

    /** If each request begins the next one, the request that comes after the close fails. */
    @Test
    void whoAsksAgainAndAgainDoesNotKeepFuturesFromClosing() throws Exception {
        FutureCacheSession futures = cache.openFutureSession();
        CompletableFuture<Throwable> end = new CompletableFuture<>();
        askAgain(futures, MemorySegment.ofArray(new long[1]), end);
        CompletableFuture.runAsync(futures::close).get(TestDevice.patience(20), TimeUnit.SECONDS);
        assertSame(
                IllegalStateException.class,
                end.get(TestDevice.patience(20), TimeUnit.SECONDS).getClass());
    }

    private static void askAgain(FutureCacheSession futures, MemorySegment word, CompletableFuture<Throwable> end) {
        futures.read(0, word).whenComplete((read, failure) -> {
            if (failure == null) {
                askAgain(futures, word, end);
            } else {
                end.complete(failure);
            }
        });
    }

    @Test
    void aLostServerEndsItsRequestsAndNoOthers() {
        List<Integer> statuses = new ArrayList<>();
        Completion record = (token, status) -> statuses.add(status);
        long onFirst = 0;
        long onSecond = Cluster.REGION_BYTES;
        assertFalse(cache.serverOf(0).equals(cache.serverOf(1)));
        cluster.stop(0);
        session.read(onFirst, buffer, 0, 8, record, 0);
        session.read(onSecond, buffer, 8, 8, record, 0);
        session.drain();
        if (way.coded()) {
            // Two of the three servers are there, which is enough.
            assertEquals(List.of(Status.OK, Status.OK), statuses);
            session.readBlocking(0, buffer, 0, CAPACITY);
            return;
        }
        // Silence is not death: the lease holds for a while, and the read waits for its server.
        assertEquals(List.of(Status.OK, Status.UNREACHABLE), statuses);
        CacheException exception =
                assertThrows(CacheException.class, () -> session.readBlocking(onFirst, buffer, 0, 8));
        assertEquals(Status.UNREACHABLE, exception.status());
        session.readBlocking(onSecond, buffer, 0, 8);
    }
}
