package io.farheap.kv.replacement;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class FrequencyCounterCacheTest {

    private static final long FOREVER = Long.MAX_VALUE;

    private final List<String> sent = new ArrayList<>();

    private FrequencyCounterCache cache(int entries, int threshold, long mostTicks) {
        return new FrequencyCounterCache(
                (long) entries * FrequencyCounterCache.ENTRY_BYTES,
                threshold,
                mostTicks,
                (key, slot, accesses) -> sent.add(key + "@" + slot + "+" + accesses));
    }

    @Test
    void aCountGoesOutWhenItPassesTheThreshold() {
        FrequencyCounterCache cache = cache(4, 10, FOREVER);
        for (int i = 0; i < 10; i++) {
            cache.add(7, 70, i);
        }
        assertEquals(List.of(), sent);
        assertEquals(10, cache.pending(7, 70));
        cache.add(7, 70, 10);
        assertEquals(List.of("7@70+11"), sent);
        assertEquals(0, cache.pending(7, 70));
        assertEquals(0, cache.size());
    }

    @Test
    void withoutRoomTheOldestGoes() {
        FrequencyCounterCache cache = cache(3, 10, FOREVER);
        cache.add(1, 10, 1);
        cache.add(2, 20, 2);
        cache.add(3, 30, 3);
        cache.add(1, 10, 4);
        cache.add(4, 40, 5);
        assertEquals(List.of("1@10+2"), sent, "the one that came first, however recently it was counted");
        assertEquals(3, cache.size());
    }

    @Test
    void noCountStaysLong() {
        FrequencyCounterCache cache = cache(8, 10, 100);
        cache.add(1, 10, 1);
        cache.add(2, 20, 50);
        cache.add(3, 30, 101);
        assertEquals(List.of(), sent);
        cache.add(3, 30, 102);
        assertEquals(List.of("1@10+1"), sent);
        assertEquals(1, cache.sendOld(151, 8));
        assertEquals(List.of("1@10+1", "2@20+1"), sent);
        assertEquals(1, cache.sendOldest(8));
        assertEquals(List.of("1@10+1", "2@20+1", "3@30+2"), sent);
        assertEquals(0, cache.sendOldest(8));
    }

    @Test
    void aKeyInAnotherSlotIsAnotherObject() {
        FrequencyCounterCache cache = cache(8, 10, FOREVER);
        cache.add(1, 10, 1);
        cache.add(1, 11, 2);
        assertEquals(List.of("1@10+1"), sent);
        assertEquals(1, cache.pending(1, 11));
        cache.forget(1);
        cache.forget(1);
        assertEquals(0, cache.size());
        assertEquals(List.of("1@10+1"), sent, "what is gone is not counted");
    }

    @Test
    void aThresholdOfNothingHoldsNothingBack() {
        FrequencyCounterCache cache = cache(2, 0, FOREVER);
        cache.add(1, 10, 1);
        cache.add(1, 10, 1);
        assertEquals(List.of("1@10+1", "1@10+1"), sent);
    }

    /** Compares the cache with a simple one, on keys that collide. */
    @Test
    void countsAsASimpleOneDoes() {
        for (int seed = 1; seed <= 20; seed++) {
            SplittableRandom random = new SplittableRandom(seed);
            int entries = 1 + random.nextInt(40);
            int threshold = random.nextInt(6);
            long mostTicks = 20 + random.nextInt(200);
            Map<Long, long[]> simple = new LinkedHashMap<>();
            List<String> expected = new ArrayList<>();
            sent.clear();
            FrequencyCounterCache cache = cache(entries, threshold, mostTicks);
            assertEquals(entries, cache.capacity());
            for (int now = 1; now < 5_000; now++) {
                // Keys have few different low bits, and some are at the end of the index: runs form and wrap.
                long key = random.nextInt(60) * 16L - random.nextInt(3);
                if (random.nextInt(20) == 0) {
                    cache.forget(key);
                    simple.remove(key);
                } else {
                    add(simple, expected, key, now, new int[] {entries, threshold}, mostTicks);
                    cache.add(key, key * 10, now);
                }
                assertEquals(simple.size(), cache.size());
                long[] other = simple.getOrDefault(16L, new long[2]);
                assertEquals(other[0], cache.pending(16, 160));
            }
            assertEquals(expected, sent);
            assertTrue(expected.size() > 100, "only " + expected.size() + " were sent");
        }
    }

    private static void add(
            Map<Long, long[]> simple, List<String> expected, long key, long now, int[] limits, long mostTicks) {
        for (int i = 0; i < 2 && !simple.isEmpty(); i++) {
            Map.Entry<Long, long[]> oldest = simple.entrySet().iterator().next();
            if (now - oldest.getValue()[1] > mostTicks) {
                send(simple, expected, oldest.getKey());
            }
        }
        if (!simple.containsKey(key)) {
            if (simple.size() == limits[0]) {
                send(simple, expected, simple.keySet().iterator().next());
            }
            simple.put(key, new long[] {0, now});
        }
        if (++simple.get(key)[0] > limits[1]) {
            send(simple, expected, key);
        }
    }

    private static void send(Map<Long, long[]> simple, List<String> expected, long key) {
        expected.add(key + "@" + key * 10 + "+" + simple.remove(key)[0]);
    }

    /** No access is lost, and none is counted twice. */
    @Test
    void allAccessesArriveOnce() {
        Map<Long, Long> arrived = new HashMap<>();
        Map<Long, Long> made = new HashMap<>();
        FrequencyCounterCache cache = new FrequencyCounterCache(
                100 * FrequencyCounterCache.ENTRY_BYTES,
                FrequencyCounterCache.THRESHOLD,
                500,
                (key, slot, accesses) -> arrived.merge(key, (long) accesses, Long::sum));
        SplittableRandom random = new SplittableRandom(9);
        for (int now = 0; now < 50_000; now++) {
            long key = (long) Math.pow(1000, random.nextDouble());
            made.merge(key, 1L, Long::sum);
            cache.add(key, key, now);
        }
        cache.sendOldest(Integer.MAX_VALUE);
        assertEquals(made, arrived);
    }

    @Test
    void sizesAreChecked() {
        assertThrows(IllegalArgumentException.class, () -> cache(0, 10, 10));
        assertThrows(IllegalArgumentException.class, () -> cache(1, -1, 10));
        assertThrows(IllegalArgumentException.class, () -> cache(1, 10, -1));
    }
}
