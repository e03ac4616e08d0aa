package io.farheap.store;

import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.tier.MemoryDevice;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ScanTest {

    private static final int KEYS = 700;
    private static final int SCANS = 15;
    /** How many values the load writes during each scan, at most. */
    private static final int BESIDE = 2_000;

    private final long seed = Long.getLong("farheap.seed", System.nanoTime());

    private static FarStoreBuilder how(MemoryDevice device, boolean general) {
        FarStoreBuilder how = FarStore.builder()
                .device(device)
                .pageBytes(4096)
                .memory(8 * 4096)
                .expectedKeys(512);
        return general ? how.records(8, 8) : how;
    }

    private static void put(StoreSession session, MemorySegment memory, long key, long value) {
        memory.set(JAVA_LONG_UNALIGNED, 0, value);
        new BlockingStoreSession(session).upsert(key, memory, 0, 8);
    }

    /** During a load, a scan visits each key once, with a value that is no older than the scan's beginning. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void eachKeyIsMetOnceBesideALoad(boolean general) throws Exception {
        System.out.println("seed " + seed);
        AtomicBoolean stop = new AtomicBoolean();
        AtomicLong clock = new AtomicLong(KEYS);
        // Bounds the load: a scan looks for newer records of each key, so it is slower the more is written meanwhile.
        AtomicLong until = new AtomicLong(KEYS);
        long[] written = new long[KEYS];
        try (MemoryDevice device = new MemoryDevice(1 << 16, 512);
                FarStore store = how(device, general).open();
                ExecutorService threads = Executors.newFixedThreadPool(2)) {
            try (StoreSession session = store.openSession();
                    Arena arena = Arena.ofConfined()) {
                MemorySegment memory = arena.allocate(8);
                for (int key = 0; key < KEYS; key++) {
                    put(session, memory, key, key);
                }
            }
            Future<?> load = threads.submit(() -> {
                SplittableRandom random = new SplittableRandom(seed);
                try (StoreSession session = store.openSession();
                        Arena arena = Arena.ofConfined()) {
                    MemorySegment memory = arena.allocate(8);
                    while (!stop.get()) {
                        if (clock.get() == until.get()) {
                            Thread.onSpinWait();
                            continue;
                        }
                        int key = random.nextInt(KEYS);
                        long now = clock.get() + 1;
                        put(session, memory, key, now);
                        written[key] = now;
                        clock.set(now);
                        put(session, memory, KEYS + random.nextInt(KEYS), 0);
                    }
                }
            });
            Future<?> compaction = threads.submit(() -> {
                while (!stop.get()) {
                    store.compact(store.logBytes() / 4);
                    Thread.sleep(1);
                }
                return null;
            });
            try {
                for (int scan = 0; scan < SCANS && !load.isDone(); scan++) {
                    // This read pairs with the load's write of the clock: it makes earlier writes of the array visible.
                    clock.get();
                    long[] before = written.clone();
                    until.addAndGet(BESIDE);
                    Map<Long, Long> met = new HashMap<>();
                    store.scan((memory, key, keyBytes, value, valueBytes) -> {
                        assertEquals(8, keyBytes);
                        assertEquals(8, valueBytes);
                        long k = memory.get(JAVA_LONG_UNALIGNED, key);
                        assertNull(met.put(k, memory.get(JAVA_LONG_UNALIGNED, value)), "met twice: " + k);
                        return true;
                    });
                    for (int key = 0; key < KEYS; key++) {
                        Long value = met.get((long) key);
                        assertTrue(value != null && value >= before[key], key + ": " + value + ", " + before[key]);
                    }
                }
            } finally {
                stop.set(true);
            }
            load.get();
            compaction.get();
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void itEndsWhenTheVisitorHasEnoughAndKeepsCompactionAway(boolean general) {
        try (MemoryDevice device = new MemoryDevice(1 << 16, 512);
                FarStore store = how(device, general).open();
                StoreSession session = store.openSession();
                Arena arena = Arena.ofConfined()) {
            MemorySegment memory = arena.allocate(8);
            for (int key = 0; key < 4_000; key++) {
                put(session, memory, key % 1_000, key);
            }
            new BlockingStoreSession(session).delete(7);
            long[] met = new long[2];
            store.scan((bytes, key, keyBytes, value, valueBytes) -> ++met[0] < 10);
            store.scan((bytes, key, keyBytes, value, valueBytes) -> ++met[1] > 0);
            assertEquals(10, met[0]);
            assertEquals(999, met[1]);
            assertThrows(
                    IllegalStateException.class,
                    () -> store.scan((bytes, key, keyBytes, value, valueBytes) -> store.compact(1) == 0));
        }
    }
}
