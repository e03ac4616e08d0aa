package io.farheap.coding;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class ErasureCodeTest {

    /** Any k of the k + r splits suffice for all others: each set of k rows of the matrix can be inverted. */
    @Test
    void everyKSplitsGiveAllOthers() {
        for (int k = 1; k <= ErasureCode.MOST_DATA; k++) {
            for (int r = 0; r <= ErasureCode.MOST_PARITY; r++) {
                ErasureCode code = ErasureCode.of(k, r);
                for (int sources = 0; sources <= code.all(); sources++) {
                    if (Integer.bitCount(sources) == k) {
                        assertEquals(r, code.rows(sources, code.all() & ~sources).length);
                    }
                }
            }
        }
    }

    @Test
    void aLostDataSplitIsTheSumOfTheOthersAndTheFirstParity() {
        for (int k = 1; k <= ErasureCode.MOST_DATA; k++) {
            ErasureCode code = ErasureCode.of(k, 2);
            for (int lost = 0; lost < k; lost++) {
                int sources = code.sources(code.all() & ~(1 << lost));
                assertEquals(code.all() & ~(1 << lost) & ~(1 << k + 1), sources);
                for (int factor : code.rows(sources, 1 << lost)[0]) {
                    assertEquals(1, factor, "of split " + lost + " in " + code);
                }
            }
        }
    }

    @Test
    void oneDataSplitIsCopied() {
        ErasureCode code = ErasureCode.of(1, 4);
        for (int parity = 1; parity <= 4; parity++) {
            assertEquals(1, code.coefficient(parity, 0));
        }
    }

    @Test
    void theFirstRowAndColumnAreOnes() {
        ErasureCode code = ErasureCode.of(16, 4);
        for (int data = 0; data < 16; data++) {
            assertEquals(1, code.coefficient(16, data));
        }
        for (int parity = 16; parity < 20; parity++) {
            assertEquals(1, code.coefficient(parity, 0));
        }
    }

    @Test
    void whatIsThereAsItIsNeedsNoOther() {
        ErasureCode code = ErasureCode.of(3, 2);
        assertArrayEquals(new int[][] {{1, 0, 0}}, code.rows(0b111, 0b001));
        assertEquals(0b10101, code.sources(0b10101));
        assertEquals(0b00111, code.sources(0b11111));
    }

    @Test
    void whatIsNoCodeIsRefused() {
        for (int[] wrong : new int[][] {{0, 2}, {17, 2}, {8, -1}, {8, 5}}) {
            String message = assertThrows(IllegalArgumentException.class, () -> ErasureCode.of(wrong[0], wrong[1]))
                    .getMessage();
            assertTrue(message.contains("a code of " + wrong[0] + " data and " + wrong[1]), message);
        }
        ErasureCode code = ErasureCode.of(4, 2);
        assertTrue(assertThrows(IllegalArgumentException.class, () -> code.sources(0b010101))
                .getMessage()
                .startsWith("3 splits are there, and 4 are needed"));
        assertThrows(IllegalArgumentException.class, () -> code.sources(1 << 6 | 0b1111));
    }
}
