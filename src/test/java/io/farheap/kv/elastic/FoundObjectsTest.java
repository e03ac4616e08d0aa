package io.farheap.kv.elastic;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.Comparator;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class FoundObjectsTest {

    private static final int MANY = 20_000;
    private static final long OLDEST = 1000;

    @Test
    void whatWasAddedIsThereAndSortedByItsUse() {
        long seed = System.nanoTime();
        SplittableRandom random = new SplittableRandom(seed);
        FoundObjects found = new FoundObjects();
        // Each round uses the memory of the rounds before again.
        for (int count : new int[] {0, 1, MANY, MANY / 2}) {
            found.clear();
            long[] used = new long[count];
            for (int i = 0; i < count; i++) {
                // Objects are sorted by the upper bits of this number.
                used[i] = random.nextLong(2 * OLDEST) << Integer.SIZE;
                found.add(i, -i, used[i]);
            }
            assertEquals(count, found.count());
            for (int i = 0; i < count; i++) {
                assertEquals(i, found.slot(i));
                assertEquals(-i, found.word(i));
                assertEquals(used[i], found.used(i));
            }
            int[] expected = IntStream.range(0, count)
                    .filter(i -> used[i] >= OLDEST << Integer.SIZE)
                    .boxed()
                    .sorted(Comparator.<Integer>comparingLong(i -> -used[i]).thenComparing(Comparator.naturalOrder()))
                    .mapToInt(Integer::intValue)
                    .toArray();
            assertArrayEquals(expected, found.latestFirst(OLDEST << Integer.SIZE), "seed " + seed);
        }
    }
}
