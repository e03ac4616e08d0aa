package io.farheap.tier.tiered;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.BitSet;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** What a tier owes is exactly what failed there and was not written since. */
class TierDebtsTest {

    private static final int SIZE = 64;

    @Test
    void theyAreAsASetOfBytes() {
        for (int seed = 0; seed < 200; seed++) {
            Random random = new Random(seed);
            TierDebts debts = new TierDebts();
            BitSet model = new BitSet();
            for (int step = 0; step < 40; step++) {
                int from = random.nextInt(SIZE);
                int to = from + 1 + random.nextInt(SIZE - from);
                if (random.nextInt(3) > 0) {
                    debts.add(from, to - from, 0);
                    model.set(from, to);
                } else {
                    debts.remove(from, to - from);
                    model.clear(from, to);
                }
                assertAs(model, debts, "seed " + seed + ", step " + step);
            }
        }
    }

    private static void assertAs(BitSet model, TierDebts debts, String which) {
        assertEquals(model.isEmpty(), debts.isEmpty(), which);
        assertEquals(model.length(), Arrays.stream(debts.all()).max().orElse(0), which);
        for (int from = 0; from < SIZE; from++) {
            assertEquals(model.length() > from, debts.from(from), which);
            assertEquals(model.get(from, SIZE + 1).cardinality(), debts.bytes(from), which);
            for (int to = from + 1; to <= SIZE; to++) {
                assertEquals(!model.get(from, to).isEmpty(), debts.overlap(from, to - from), which);
                assertEquals(model.get(from, to).cardinality() == to - from, debts.cover(from, to - from), which);
            }
        }
    }

    @Test
    void whatIsBelowTheBeginningIsForgotten() {
        TierDebts debts = new TierDebts();
        debts.add(0, 10, 0);
        debts.add(20, 10, 0);
        debts.add(40, 10, 15);
        assertEquals(20, debts.all()[0]);
        assertTrue(debts.overlap(45, 1));
    }
}
