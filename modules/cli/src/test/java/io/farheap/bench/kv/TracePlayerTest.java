package io.farheap.bench.kv;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.testing.Effort;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TracePlayerTest {

    private static final int OBJECTS = 500;
    private static final long COUNTER_BYTES = 1 << 20;

    @TempDir
    private Path directory;

    private static int[] skewed() {
        SplittableRandom random = new SplittableRandom(12);
        int[] keys = new int[50_000];
        for (int i = 0; i < keys.length; i++) {
            keys[i] = (int) Math.pow(5000, random.nextDouble());
        }
        return keys;
    }

    private static TracePlayer played(String policy, int clients, int sampleSlots) {
        TracePlayer player = new TracePlayer(OBJECTS, policy, clients, sampleSlots, COUNTER_BYTES, 10, 13);
        player.play(skewed());
        return player;
    }

    private static double exactLru(int[] keys) {
        Map<Integer, Boolean> cache = new LinkedHashMap<>(16, 0.75f, true) {
            @Override
            protected boolean removeEldestEntry(Map.Entry<Integer, Boolean> eldest) {
                return size() > OBJECTS;
            }
        };
        int hits = 0;
        for (int key : keys) {
            hits += cache.get(key) != null ? 1 : 0;
            cache.put(key, true);
        }
        return 100.0 * hits / keys.length;
    }

    /**
     * The model is right in a case whose result is known: samples of the whole table make LRU exact, except for full
     * buckets.
     */
    @Test
    void lruIsExactWithTheWholeTableInEachSample() {
        assertEquals(exactLru(skewed()), played("lru", 1, 4 * OBJECTS).hitPercent(), 0.2);
    }

    @Test
    void widerSamplesComeCloserToThePolicy() {
        double exact = exactLru(skewed());
        double narrow = played("lru", 1, 16).hitPercent();
        double wide = played("lru", 1, 256).hitPercent();
        assertTrue(Math.abs(exact - wide) < Math.abs(exact - narrow), exact + ", " + wide + ", " + narrow);
    }

    @Test
    void figuresAddUp() {
        for (String policy :
                Effort.variants(2, "adaptive", "gdsf", "paper", "lru-k").toList()) {
            for (int clients : new int[] {1, 8}) {
                TracePlayer player = played(policy, clients, 256);
                assertEquals(50_000, player.requests());
                long gone = player.evictions() + player.crowdedOut();
                long misses = player.requests() - player.hits();
                assertTrue(gone <= misses && gone >= misses - OBJECTS, policy + ": " + gone + " of " + misses);
                assertTrue(player.regrets() > 0 && player.samples() > 0 && player.exchanges() > 0, policy);
                assertEquals(player.hitPercent(), played(policy, clients, 256).hitPercent(), "a seed says it all");
            }
        }
    }

    @Test
    void theAdaptiveOneWritesLittle() {
        TracePlayer adaptive = played("adaptive", 1, 256);
        assertTrue(adaptive.hitPercent() >= exactLru(skewed()), "hits " + adaptive.hitPercent());
        assertTrue(adaptive.writes() + adaptive.adds() < adaptive.hits() / 2);
        assertEquals(played("lru", 1, 256).hits(), played("lru", 1, 256).writes(), "LRU writes at each hit");
    }

    @Test
    void filesAreKeysByLine() throws IOException {
        Path file = directory.resolve("trace");
        Files.writeString(file, "0\n12\r\n2147483647");
        assertArrayEquals(new int[] {0, 12, Integer.MAX_VALUE}, TraceFile.read(file));
        for (String ending : new String[] {"1\n2\n\n", "1\n2\n\n\n", "1\r\n2\r\n\r\n"}) {
            Files.writeString(file, ending);
            assertArrayEquals(new int[] {1, 2}, TraceFile.read(file), ending);
        }
        for (String wrong : new String[] {"1\nx\n", "1\n\n2\n", "\n1\n", "2147483648\n", "-1\n", "", "\n\n"}) {
            Files.writeString(file, wrong);
            assertThrows(IOException.class, () -> TraceFile.read(file), wrong);
        }
    }
}
