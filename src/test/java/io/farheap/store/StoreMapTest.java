package io.farheap.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.kv.Codec;
import io.farheap.tier.MemoryDevice;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class StoreMapTest {

    private static final int KEYS = 300;

    private final long seed = Long.getLong("farheap.seed", System.nanoTime());
    private MemoryDevice device;
    private FarStore store;
    private ConcurrentMap<String, String> map;

    @BeforeEach
    void open() {
        device = new MemoryDevice(1 << 16, 512);
        open(0);
    }

    private void open(int cachePages) {
        store = FarStore.builder()
                .device(device)
                .pageBytes(4096)
                .memory(6 * 4096)
                .readCache(cachePages * 4096L)
                .expectedKeys(64)
                .records(64, 32)
                .open();
        map = store.asMap(Codec.STRING, Codec.STRING);
    }

    @AfterEach
    void close() {
        store.close();
        device.close();
    }

    private static String text(SplittableRandom random) {
        return Integer.toString(random.nextInt(100)).repeat(random.nextInt(60));
    }

    private void openWithCopies() {
        store.close();
        open(6);
    }

    /** Compares the map with a JDK map, on a log most of which is on the device, without and with a read cache. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void itDoesWhatAMapDoes(boolean copies) {
        if (copies) {
            openWithCopies();
        }
        System.out.println("seed " + seed);
        SplittableRandom random = new SplittableRandom(seed);
        Map<String, String> expected = new HashMap<>();
        for (int i = 0; i < 20_000; i++) {
            String key = "key " + random.nextInt(KEYS);
            String value = text(random);
            String old = expected.get(key);
            switch (random.nextInt(13)) {
                case 0 -> assertEquals(expected.put(key, value), map.put(key, value));
                case 1 -> assertEquals(expected.putIfAbsent(key, value), map.putIfAbsent(key, value));
                case 2 -> assertEquals(expected.remove(key), map.remove(key));
                case 3 -> assertEquals(expected.remove(key, value), map.remove(key, value));
                case 4 -> assertEquals(old != null && expected.remove(key, old), old != null && map.remove(key, old));
                case 5 -> assertEquals(expected.replace(key, value), map.replace(key, value));
                case 6 ->
                    assertEquals(
                            old != null && expected.replace(key, old, value),
                            old != null && map.replace(key, old, value));
                case 7 ->
                    assertEquals(
                            expected.merge(key, value, (a, b) -> a.length() > 100 ? null : a + b),
                            map.merge(key, value, (a, b) -> a.length() > 100 ? null : a + b));
                case 8 ->
                    assertEquals(
                            expected.compute(key, (k, v) -> v == null ? k : null),
                            map.compute(key, (k, v) -> v == null ? k : null));
                case 9 ->
                    assertEquals(
                            expected.computeIfAbsent(key, k -> k + value), map.computeIfAbsent(key, k -> k + value));
                case 10 ->
                    assertEquals(
                            expected.computeIfPresent(key, (k, v) -> v.length() > 90 ? null : v + k),
                            map.computeIfPresent(key, (k, v) -> v.length() > 90 ? null : v + k));
                case 11 -> assertEquals(old != null, map.containsKey(key));
                default -> assertEquals(old, map.get(key));
            }
        }
        Map<String, String> all = new HashMap<>();
        map.forEach((key, value) -> assertNull(all.put(key, value), key));
        assertEquals(expected, all);
        assertEquals(expected.size(), map.size());
        assertEquals(expected.isEmpty(), map.isEmpty());
        map.clear();
        assertTrue(map.isEmpty());
    }

    /** Operations that change nothing end at the key's copy in the read cache, without a read of the device. */
    @Test
    void whatLeavesACopyAsItIsEndsAsElsewhere() {
        openWithCopies();
        map.put("a", "1");
        for (int i = 0; store.logBytesInMemory() == store.logBytes(); i++) {
            map.put("filler " + i, "x".repeat(200));
        }
        // A get makes no copy while the read cache's next page is not free yet.
        long reads;
        do {
            reads = store.counts().deviceReads();
            assertEquals("1", map.get("a"));
        } while (store.counts().deviceReads() != reads);
        assertEquals("1", map.putIfAbsent("a", "2"));
        assertFalse(map.remove("a", "2"));
        assertFalse(map.replace("a", "2", "3"));
        assertEquals("1", map.get("a"));
        assertEquals(reads, store.counts().deviceReads(), "it is in a copy");
        assertTrue(map.replace("a", "1", "3"));
        assertEquals("3", map.get("a"));
    }

    @Test
    void valuesMayBeLongAndKeysMayNotBeAnyLength() {
        String value = "x".repeat(3_000);
        map.putAll(Map.of("a", value, "b", ""));
        for (int i = 0; i < 100; i++) {
            map.put("k" + i, value);
        }
        assertEquals(value, map.get("a"));
        assertEquals("", map.get("b"));
        assertTrue(map.containsValue(""));
        assertFalse(map.containsValue("y"));
        assertThrows(IllegalArgumentException.class, () -> map.put("", "1"));
        assertThrows(IllegalArgumentException.class, () -> map.put("k".repeat(65), "1"));
        assertThrows(IllegalArgumentException.class, () -> map.put("a", "1".repeat(5_000)));
        assertThrows(NullPointerException.class, () -> map.put("a", null));
        assertThrows(UnsupportedOperationException.class, map::keySet);
        assertEquals(value, map.get("a"));
    }

    /** Many virtual threads lose no count, and the functions that they pass may use the map. */
    @Test
    void virtualThreadsCount() throws Exception {
        ConcurrentMap<String, Long> counts = store.asMap(Codec.STRING, Codec.LONG);
        int threads = 200;
        int each = 50;
        try (ExecutorService all = Executors.newVirtualThreadPerTaskExecutor()) {
            List<Future<?>> ends = new ArrayList<>();
            for (int i = 0; i < threads; i++) {
                SplittableRandom random = new SplittableRandom(seed + i);
                ends.add(all.submit(() -> {
                    for (int n = 0; n < each; n++) {
                        String key = "count " + random.nextInt(20);
                        counts.merge(key, 1L, (a, b) -> {
                            counts.get("other");
                            return a + b;
                        });
                        map.put("filler " + random.nextInt(KEYS), text(random));
                    }
                }));
            }
            for (Future<?> end : ends) {
                end.get();
            }
        }
        long sum = 0;
        for (int key = 0; key < 20; key++) {
            sum += counts.getOrDefault("count " + key, 0L);
        }
        assertEquals(threads * each, sum);
    }

    @Test
    void aFunctionThatThrowsChangesNothing() {
        map.put("a", "1");
        assertThrows(
                ArithmeticException.class,
                () -> map.compute("a", (key, value) -> {
                    throw new ArithmeticException();
                }));
        assertEquals("1", map.get("a"));
    }

    /** Another thread uses the session on which a call has failed. */
    @Test
    void aCallThatFailsLeavesTheMapToOtherThreads() throws Exception {
        map.put("a", "1");
        for (int i = 0; i < KEYS || store.logBytes() < 10 * 4096; i++) {
            map.put("filler " + i, "x".repeat(200));
        }
        try (ExecutorService thread = Executors.newSingleThreadExecutor()) {
            // The thread stays alive, and would keep the session's handle if the failed call did not release it.
            thread.submit(() -> assertThrows(IllegalArgumentException.class, () -> map.put("a", "1".repeat(5_000))))
                    .get();
            map.put("n", "1");
            assertEquals("1", map.get("a"));
            store.close();
            device.close();
        }
    }

    @Test
    void itEndsWithTheStore() {
        map.put("a", "1");
        store.close();
        assertThrows(IllegalStateException.class, () -> map.get("a"));
    }

    @Test
    void aStoreOfWordsHasNoMap() {
        try (FarStore words = FarStore.builder()
                .device(device)
                .pageBytes(4096)
                .memory(6 * 4096)
                .open()) {
            assertThrows(IllegalStateException.class, () -> words.asMap(Codec.LONG, Codec.LONG));
        }
    }
}
