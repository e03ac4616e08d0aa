package io.farheap.cache;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.cache.calls.CacheProcedures;
import io.farheap.cache.contract.CallCompletion;
import io.farheap.cache.contract.CallCounts;
import io.farheap.cache.contract.CallResult;
import io.farheap.metrics.CacheMetrics;
import io.farheap.procedure.CallStatus;
import io.farheap.server.contract.ServedCode;
import io.farheap.testing.Fields;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.LinkedBlockingQueue;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * The ways to call: many calls at once, futures, and blocking calls, on two servers that run procedures and one that
 * does not.
 */
class CallFormsTest {

    private static final long REGION = Cluster.REGION_BYTES;
    private static final int SERVERS = 3;
    private static final int RESULTS = 4096;

    private final Cluster cluster = new Cluster();
    private Cache cache;
    private Caller caller;
    private Procedure load;
    private Procedure store;

    @BeforeEach
    void create() {
        cluster.serving(ServedCode.JAVA).add(1);
        cluster.add(1);
        cluster.serving(ServedCode.OFF).add(1);
        cache = Cache.builder()
                .capacity(SERVERS * REGION)
                .servers(cluster.addresses())
                .create();
        load = cache.procedures().register(TestProcedures.Load.class, Procedures.READS);
        store = cache.procedures().register(TestProcedures.Store.class, Procedures.WRITES);
        caller = new Caller(cache);
    }

    @AfterEach
    void close() {
        caller.close();
        cache.close();
        cluster.close();
    }

    private static long word(int i) {
        return i % SERVERS * REGION + 8L * i;
    }

    @Test
    void manyCallsAreHandedOverAtOnce() {
        CacheSession session = caller.session;
        MemorySegment memory = caller.buffer.segment();
        int count = 64;
        long[] addresses = new long[count];
        for (int i = 0; i < count; i++) {
            addresses[i] = word(i);
            memory.set(JAVA_LONG, 16L * i, addresses[i]);
            memory.set(JAVA_LONG, 16L * i + 8, 1_000 + i);
        }
        int[] called = new int[count];
        CallCompletion done = (token, status, code, bytes) -> {
            assertEquals(CallStatus.DONE, status);
            called[(int) token - 7]++;
        };
        assertTrue(session.callAll(store, addresses, count, caller.buffer, 0, 16, 0, 0, done, 7));
        for (int i = 0; i < count; i++) {
            memory.set(JAVA_LONG, 8L * i + 2048, addresses[i]);
        }
        // The footprint of these calls is the whole cache, so they come after all stores.
        while (!session.callAll(load, addresses, count, caller.buffer, 2048, 8, RESULTS, 8, done, 7)) {
            session.awaitProgress();
        }
        session.drain();
        for (int i = 0; i < count; i++) {
            assertEquals(2, called[i], "calls with token " + (i + 7));
            assertEquals(1_000 + i, memory.get(JAVA_LONG, RESULTS + 8L * i));
        }
    }

    @Test
    void allAreTakenOrNone() {
        Procedure spin = cache.procedures().register(TestProcedures.Spin.class, Procedures.READS);
        CacheSession session = caller.session;
        caller.arguments(0, 1_000_000);
        int[] ended = new int[1];
        CallCompletion done = (token, status, code, bytes) -> ended[0]++;
        int taken = 0;
        long[] addresses = new long[24];
        while (session.callAll(spin, addresses, 24, caller.buffer, 0, 0, RESULTS, 8, done, 0)) {
            taken += 24;
        }
        assertTrue(taken > 0 && taken < 1_000, taken + " were taken");
        assertEquals(taken, session.pending());
        assertTrue(
                session.callAll(spin, addresses, 1, caller.buffer, 0, 0, RESULTS, 8, done, 0), "there is room for one");
        session.drain();
        assertEquals(taken + 1, ended[0]);
        for (int wrong : new int[] {0, -1, 25}) {
            assertThrows(
                    IllegalArgumentException.class,
                    () -> session.callAll(spin, addresses, wrong, caller.buffer, 0, 0, RESULTS, 8, done, 0));
        }
        assertThrows(
                IndexOutOfBoundsException.class,
                () -> session.callAll(spin, addresses, 24, caller.buffer, 0, 4096, RESULTS, 8, done, 0));
        addresses[3] = SERVERS * REGION;
        assertThrows(
                IndexOutOfBoundsException.class,
                () -> session.callAll(spin, addresses, 24, caller.buffer, 0, 0, RESULTS, 8, done, 0));
        assertEquals(0, session.pending());
    }

    @Test
    void callsAreFuturesToo() {
        try (FutureCacheSession futures = cache.openFutureSession()) {
            List<CompletableFuture<?>> all = new ArrayList<>();
            for (int i = 0; i < 200; i++) {
                long at = word(i % 9);
                all.add(futures.write(at, MemorySegment.ofArray(new long[] {i})));
                // This call comes after the write, and before the store.
                long[] loaded = new long[1];
                int written = i;
                all.add(futures.call(load, at, longs(at), MemorySegment.ofArray(loaded))
                        .thenAccept(result -> {
                            assertEquals(new CallResult(CallStatus.DONE, (int) at, 8), result);
                            assertEquals(written, loaded[0], "what was written before the call");
                        }));
                all.add(futures.call(store, at, at, 8, longs(at, 1_000 + i), longs()));
                long[] read = new long[1];
                int expected = 1_000 + i;
                all.add(futures.read(at, MemorySegment.ofArray(read))
                        .thenRun(() -> assertEquals(expected, read[0], "what the call stored")));
            }
            CompletableFuture.allOf(all.toArray(CompletableFuture[]::new)).join();
        }
    }

    @Test
    void futuresSeeWhatWasAskedForBefore() {
        try (FutureCacheSession futures = cache.openFutureSession()) {
            long[] result = new long[1];
            for (int i = 1; i < 100; i++) {
                long at = word(i);
                CompletableFuture<Void> write = futures.write(at, MemorySegment.ofArray(new long[] {i}));
                CallResult ended = futures.call(load, 0, longs(at), MemorySegment.ofArray(result))
                        .join();
                assertEquals(new CallResult(CallStatus.DONE, (int) at, 8), ended);
                assertTrue(write.isDone());
                assertEquals(i, result[0]);
            }
        }
    }

    @Test
    void aFutureOfACallFailsWhereTheCallCannotBeMade() {
        FutureCacheSession futures = cache.openFutureSession();
        fails(IllegalArgumentException.class, futures.call(load, 0, MemorySegment.ofArray(new byte[4097]), longs()));
        fails(IllegalArgumentException.class, futures.call(load, 0, longs(8), MemorySegment.ofArray(new byte[4097])));
        fails(IndexOutOfBoundsException.class, futures.call(load, SERVERS * REGION, longs(8), longs(0)));
        fails(IndexOutOfBoundsException.class, futures.call(load, 0, 0, 0, longs(8), longs(0)));
        fails(IllegalArgumentException.class, futures.call(load, 0, longs(8), longs(0).asReadOnly()));
        assertEquals(
                CallStatus.OUT_OF_RANGE,
                futures.call(load, 0, 0, 8, longs(8), longs(0)).join().status());
        cache.procedures().unregister(load);
        fails(IllegalArgumentException.class, futures.call(load, 0, longs(8), longs(0)));
        futures.close();
        fails(IllegalStateException.class, futures.call(store, 0, longs(8, 8), longs(0)));
    }

    private static void fails(Class<? extends Throwable> how, CompletableFuture<?> future) {
        assertInstanceOf(
                how, assertThrows(CompletionException.class, future::join).getCause());
    }

    private static MemorySegment longs(long... values) {
        return MemorySegment.ofArray(values);
    }

    @Test
    void whoCallsMayWait() {
        caller.write(word(5), 55);
        caller.arguments(word(5));
        CacheSession session = caller.session;
        assertEquals(
                new CallResult(CallStatus.DONE, (int) word(5), 8),
                session.callBlocking(load, word(5), word(5), 8, caller.buffer, 0, 8, 64, 8));
        assertEquals(55, caller.result());
        assertEquals(
                CallStatus.OUT_OF_RANGE,
                session.callBlocking(load, word(5), word(6), 8, caller.buffer, 0, 8, 64, 8)
                        .status());
        boolean[] refused = new boolean[1];
        assertTrue(session.call(
                load,
                0,
                caller.buffer,
                0,
                8,
                64,
                8,
                (token, status, code, bytes) -> {
                    assertThrows(
                            IllegalStateException.class,
                            () -> session.callBlocking(load, 0, caller.buffer, 0, 8, 64, 8));
                    refused[0] = true;
                },
                0));
        session.drain();
        assertTrue(refused[0]);
        assertFalse(session.held() > 0);
    }

    @Test
    void whatBecameOfCallsIsCounted() throws Exception {
        Procedure sum = cache.procedures().register(TestProcedures.Sum.class, Procedures.READS);
        caller.call(load, 0, 8);
        assertEquals(1, cache.callCounts().ended(CallStatus.DONE));
        assertTrue(cache.callCounts().latencyNanos() > 0, "the first is timed");
        caller.call(load, 0, SERVERS * REGION);
        // This call begins on the first server, and moves on to the second.
        caller.call(sum, 0, 8, 4, REGION / 2);
        try (Caller other = new Caller(cache)) {
            other.call(load, 2 * REGION, 2 * REGION);
        }
        CallCounts counts = cache.callCounts();
        assertEquals(3, counts.ended(CallStatus.DONE), "that of a session that is closed, too");
        assertEquals(1, counts.ended(CallStatus.OUT_OF_RANGE));
        assertEquals(4, counts.ended());
        assertEquals(1, counts.movedOn(), "from the first to the second");
        assertTrue(counts.here() > 0);
        assertEquals(0, counts.held());

        MeterRegistry registry = new SimpleMeterRegistry();
        new CacheMetrics(cache).bindTo(registry);
        assertEquals(
                3,
                registry.get("farheap.calls")
                        .tag("status", "done")
                        .functionCounter()
                        .count());
        assertEquals(
                1,
                registry.get("farheap.calls.met")
                        .tag("what", "moved on")
                        .functionCounter()
                        .count());
        assertTrue(registry.get("farheap.calls.latency").gauge().value() > 0);
        Fields.get(cache, "procedures", CacheProcedures.class).moving(0, () -> {
            assertTrue(caller.session.call(load, 0, caller.buffer, 0, 8, 64, 8, (token, status, code, bytes) -> {}, 0));
            caller.session.poll();
            assertEquals(1, caller.session.held());
            return true;
        });
        caller.session.drain();
        assertEquals(1, cache.callCounts().held());
    }

    @Test
    void aFlightRecordingHasTheCounts() throws Exception {
        BlockingQueue<RecordedEvent> events = new LinkedBlockingQueue<>();
        caller.call(load, 0, 8);
        try (RecordingStream recording = new RecordingStream()) {
            recording.enable("io.farheap.CallStatistics").withPeriod(Duration.ofMillis(20));
            recording.onEvent("io.farheap.CallStatistics", events::add);
            recording.startAsync();
            RecordedEvent event = events.take();
            while (!event.getString("cache").equals(cache.name())) {
                event = events.take();
            }
            assertEquals(1, event.getLong("done"));
            assertEquals(0, event.getLong("failed"));
            assertTrue(event.getDuration("averageLatency").isPositive());
        }
    }
}
