package io.farheap.kv.operation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class PointerLossesTest {

    private static final long HASH = 0x0123_4567_89AB_CDEFL;
    private static final long OTHER = 0x0123_4567_00AB_CDEFL;

    private final PointerLosses losses = new PointerLosses();

    /** How many sets ask the slot until one tries. */
    private int rest() {
        for (int asked = 0; ; asked++) {
            if (losses.mayTry(HASH)) {
                return asked;
            }
        }
    }

    @Test
    void aKeyThatOthersChangeIsTriedEverMoreSeldom() {
        for (int expected : new int[] {1, 3, 7, 15, 31, 63, 63}) {
            losses.lost(HASH);
            assertTrue(losses.mayTry(OTHER), "another key's sets try");
            int rest = rest();
            // One of 64 asks the slot in each case.
            assertTrue(rest >= expected && rest <= expected + 1, rest + " sets, " + expected + " expected");
        }
        losses.won(HASH);
        losses.lost(HASH);
        losses.won(HASH);
        losses.won(HASH);
        losses.won(HASH);
        rest();
        losses.lost(HASH);
        assertTrue(rest() <= 16);
    }

    @Test
    void oneOf64SetsAsksTheSlot() {
        int asked = 0;
        for (int i = 0; i < 6400; i++) {
            asked += losses.mayTry(HASH) ? 0 : 1;
        }
        assertEquals(100, asked, 2);
    }
}
