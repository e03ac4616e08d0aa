package io.farheap.kv.format;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class SlotWordTest {

    @Test
    void aLiveWordHasAllThatItWasMadeOf() {
        SplittableRandom random = new SplittableRandom(1);
        for (int i = 0; i < 10_000; i++) {
            long place = random.nextLong(SlotWord.MOST_PLACES);
            int incarnation = random.nextInt(SlotWord.INCARNATIONS);
            int fingerprint = random.nextInt(256);
            int units = SizeClasses.units(random.nextInt(SizeClasses.COUNT));
            long word = SlotWord.live(place, incarnation, fingerprint, units);
            assertTrue(SlotWord.isLive(word));
            assertFalse(SlotWord.isHistory(word));
            assertEquals(place, SlotWord.place(word));
            assertEquals(incarnation, SlotWord.incarnation(word));
            assertEquals(fingerprint, SlotWord.fingerprint(word));
            assertEquals(units, SlotWord.units(word));
            assertFalse(SlotWord.isIndex(word));
            assertFalse(SlotWord.hasPointers(word));
            long pointed = SlotWord.withPointers(word);
            assertTrue(SlotWord.isLive(pointed) && SlotWord.hasPointers(pointed));
            assertTrue(SlotWord.isSame(word, pointed) && SlotWord.isSame(pointed, word));
            assertFalse(SlotWord.isHistory(pointed) || SlotWord.isIndex(pointed) || SlotWord.isClaim(pointed));
            assertEquals(units, SlotWord.units(pointed));
            assertEquals(SlotWord.block(word), SlotWord.block(pointed));
            assertEquals(SlotWord.claim(word), SlotWord.claim(pointed));
            assertEquals(SlotWord.besideHash(word, 7), SlotWord.besideHash(pointed, 7));
            if (units > 16) {
                long index = SlotWord.index(word);
                assertTrue(SlotWord.isLive(index) && SlotWord.isIndex(index));
                assertEquals(units, SlotWord.units(index));
                assertEquals(SlotWord.block(word), SlotWord.block(index));
                assertEquals(fingerprint, SlotWord.fingerprint(index));
            }
        }
    }

    @Test
    void aHistoryWordHasItsNumberModulo48Bits() {
        for (long number : new long[] {0, 1, (1L << 48) - 1, 1L << 48, -1}) {
            long word = SlotWord.history(number, 0xAB);
            assertTrue(SlotWord.isHistory(word));
            assertFalse(SlotWord.isLive(word) || SlotWord.hasPointers(word));
            assertEquals(number & (1L << 48) - 1, SlotWord.historyNumber(word));
            assertEquals(0xAB, SlotWord.fingerprint(word));
        }
    }

    /** Whatever a broken client writes into a slot is known, and so can be taken out. */
    @Test
    void eachWordIsEmptyAClaimAHistoryEntryOrLive() {
        for (int low = 0; low < 256; low++) {
            long word = SlotWord.claim(SlotWord.live(99, 1, 7, 1)) | low;
            int kinds = (SlotWord.isClaim(word) ? 1 : 0)
                    + (SlotWord.isHistory(word) ? 1 : 0)
                    + (SlotWord.isLive(word) ? 1 : 0);
            assertEquals(1, kinds, "low byte " + low);
            assertEquals(low > 128 && low < 255 || low == 128, SlotWord.hasPointers(word), "low byte " + low);
            assertTrue(SlotWord.isLive(word) || !SlotWord.isIndex(word), "low byte " + low);
        }
    }

    @Test
    void anEmptyWordIsNeither() {
        assertFalse(SlotWord.isLive(SlotWord.EMPTY));
        assertFalse(SlotWord.isHistory(SlotWord.EMPTY));
    }
}
