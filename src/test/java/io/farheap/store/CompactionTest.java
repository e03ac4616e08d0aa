package io.farheap.store;

import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.store.contract.StoreStatus;
import io.farheap.store.format.Hashes;
import io.farheap.store.index.HashIndex;
import io.farheap.testing.TestDevice;
import io.farheap.tier.MemoryDevice;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A log that is compacted again and again during a load gives space back, and loses nothing. */
class CompactionTest {

    private static final int KEYS = 1_000;
    private static final int OPERATIONS = 30_000;
    private static final long MOVED = 1;

    private final long seed = Long.getLong("farheap.seed", System.nanoTime());

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void nothingIsLost(boolean longer) throws Exception {
        System.out.println("seed " + seed);
        SplittableRandom random = new SplittableRandom(seed);
        Map<Long, Long> expected = new HashMap<>();
        FarStoreBuilder how = FarStore.builder()
                .pageBytes(4096)
                .memory(8 * 4096)
                .readCache(8 * 4096)
                .expectedKeys(32);
        if (longer) {
            how.records(8, 8);
        }
        try (MemoryDevice device = new MemoryDevice(1 << 14, 512);
                FarStore store = how.device(device).open();
                ExecutorService threads = Executors.newSingleThreadExecutor();
                Arena arena = Arena.ofConfined()) {
            AtomicBoolean stop = new AtomicBoolean();
            Future<Long> compaction = threads.submit(() -> {
                long all = 0;
                // At least once, also if this thread first runs after the load.
                do {
                    all += store.compact(store.logBytes() / 2);
                    Thread.sleep(1);
                } while (!stop.get());
                return all;
            });
            try (StoreSession session = store.openSession()) {
                MemorySegment memory = arena.allocate(8);
                for (int i = 0; i < OPERATIONS; i++) {
                    operation(session, memory, random, expected);
                    if (compaction.isDone()) {
                        compaction.get();
                    }
                }
                session.drain();
                stop.set(true);
                assertTrue(compaction.get() > 0);
                assertTrue(device.begin() > 0, "nothing was given back");
                for (long key = 0; key < KEYS; key++) {
                    assertEquals(expected.getOrDefault(key, 0L), get(session, memory, key), "key " + key);
                }
            } finally {
                stop.set(true);
                store.failure().ifPresent(Throwable::printStackTrace);
            }
        }
    }

    /** The pending read reads the record before the moved one in the chain, which is above the log's new beginning. */
    @Test
    void aPendingReadFindsWhatWasMovedMeanwhile() {
        try (MemoryDevice device = new MemoryDevice(1 << 14, 512);
                FarStore store = withOneBucket(device);
                StoreSession session = store.openSession();
                Arena arena = Arena.ofConfined()) {
            MemorySegment memory = arena.allocate(8);
            List<Integer> ends = beginReadOfMoved(store, session, memory);
            session.drain();
            assertEquals(List.of(StoreStatus.DONE), ends);
            assertEquals(17, memory.get(JAVA_LONG_UNALIGNED, 0));
        }
    }

    /** The pending read looks for the moved record in an index that has no memory to grow, and ends nevertheless. */
    @Test
    void aPendingReadEndsThatCannotLookForWhatWasMoved() {
        assertTimeoutPreemptively(Duration.ofNanos(TestDevice.patience(60_000_000_000L)), () -> {
            AtomicBoolean refusing = new AtomicBoolean(true);
            try (MemoryDevice device = new MemoryDevice(1 << 14, 512);
                    FarStore store = withOneBucket(device);
                    StoreSession session = store.openSession();
                    Arena arena = Arena.ofConfined()) {
                MemorySegment memory = arena.allocate(8);
                List<Integer> ends = beginReadOfMoved(store, session, memory);
                HashIndex index = IndexGrowthTest.index(store);
                index.tables = buckets -> new IndexGrowthTest.Refusing(buckets, refusing::get);
                index.grow();
                assertThrows(OutOfMemoryError.class, session::drain);
                assertEquals(List.of(StoreStatus.SEGMENT_GONE), ends);
                assertEquals(0, session.pending());
                refusing.set(false);
                assertEquals(17, get(session, memory, MOVED));
            }
        });
    }

    static FarStore withOneBucket(MemoryDevice device) {
        return FarStore.builder()
                .pageBytes(4096)
                .memory(8 * 4096)
                .expectedKeys(1)
                .growingIndex(false)
                .device(device)
                .open();
    }

    /**
     * Begins a read of {@link #MOVED}, and moves its record before the session looks at what the device has read.
     *
     * @return the list that receives the status of the read
     */
    private static List<Integer> beginReadOfMoved(FarStore store, StoreSession session, MemorySegment memory) {
        long inFront = MOVED + 1;
        while (tag(inFront) != tag(MOVED)) {
            inFront++;
        }
        long fillers = inFront;
        upsert(session, memory, MOVED, 17);
        while (store.logBytes() < 2 * 4096) {
            fillers = fillOnce(session, memory, fillers, MOVED);
        }
        upsert(session, memory, inFront, 18);
        long published = store.logBytes();
        while (store.logBytes() - store.logBytesInMemory() < published) {
            fillers = fillOnce(session, memory, fillers, MOVED);
        }
        memory.set(JAVA_LONG_UNALIGNED, 0, 0);
        List<Integer> ends = new ArrayList<>();
        assertEquals(
                StoreStatus.PENDING, session.read(MOVED, memory, 0, 8, (token, ended, bytes) -> ends.add(ended), 0));
        assertTrue(store.compact(4096) > 0);
        return ends;
    }

    static long tag(long key) {
        return Hashes.of(key) >>> 49;
    }

    /** @return the key that was stored, whose tag differs from the tag of {@code another} */
    private static long fillOnce(StoreSession session, MemorySegment memory, long last, long another) {
        long key = last + 1;
        while (tag(key) == tag(another)) {
            key++;
        }
        upsert(session, memory, key, key);
        return key;
    }

    private static void upsert(StoreSession session, MemorySegment memory, long key, long value) {
        memory.set(JAVA_LONG_UNALIGNED, 0, value);
        while (session.upsert(key, memory, 0, 8) == StoreStatus.FULL) {
            Calls.goOn(session);
        }
    }

    private static void operation(
            StoreSession session, MemorySegment memory, SplittableRandom random, Map<Long, Long> expected) {
        long key = random.nextInt(KEYS);
        long value = 1 + random.nextInt(1_000_000);
        int status;
        switch (random.nextInt(8)) {
            case 0 -> {
                memory.set(JAVA_LONG_UNALIGNED, 0, value);
                while ((status = session.upsert(key, memory, 0, 8)) == StoreStatus.FULL) {
                    Calls.goOn(session);
                }
                expected.put(key, value);
            }
            case 1 -> {
                while ((status = session.delete(key)) == StoreStatus.FULL) {
                    Calls.goOn(session);
                }
                expected.remove(key);
            }
            case 2, 3, 4 -> {
                while ((status = session.update(
                                key,
                                Values.ADD,
                                value,
                                (token, ended, bytes) -> assertEquals(StoreStatus.DONE, ended),
                                0))
                        == StoreStatus.FULL) {
                    Calls.goOn(session);
                }
                session.drain();
                expected.merge(key, value, Long::sum);
            }
            default -> {
                assertEquals(expected.getOrDefault(key, 0L), get(session, memory, key), "key " + key);
                return;
            }
        }
        assertTrue(status != StoreStatus.FAILED && status != StoreStatus.LOST, StoreStatus.describe(status));
    }

    private static long get(StoreSession session, MemorySegment memory, long key) {
        memory.set(JAVA_LONG_UNALIGNED, 0, 0);
        int status;
        while ((status = session.read(
                        key,
                        memory,
                        0,
                        8,
                        (token, ended, bytes) ->
                                assertTrue(ended == StoreStatus.DONE || ended == StoreStatus.NOT_FOUND),
                        0))
                == StoreStatus.FULL) {
            Calls.goOn(session);
        }
        session.drain();
        return memory.get(JAVA_LONG_UNALIGNED, 0);
    }
}
