package io.farheap.bench.kv.worth;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.junit.jupiter.api.Test;

/** A client moves whole blocks, so the lengths of blocks say which maps are comparable. */
class FarTableLayoutTest {

    private static FarTableLayout of(int valueBytes) {
        return FarTableLayout.of(100, 100, 1, valueBytes);
    }

    @Test
    void aBlockIsAsLongAsTheLibrarysBlockOfSuchAPair() {
        FarTableLayout small = of(8);
        assertEquals(64, small.blockBytes());
        assertEquals(56, small.end());
        FarTableLayout large = of(248);
        assertEquals(320, large.blockBytes());
        assertEquals(large.blockAt(3) + 320, large.blockAt(4));
        assertEquals(100 * (320 - 64), large.bytes() - small.bytes());
    }

    @Test
    void valuesLongerThanAClientHasRoomForAreRefused() {
        assertThrows(IllegalArgumentException.class, () -> of(272));
    }
}
