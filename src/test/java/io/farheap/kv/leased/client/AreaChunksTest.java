package io.farheap.kv.leased.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.kv.leased.format.ReportRing;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class AreaChunksTest {

    private static final int CHUNK = 64 << 10;

    @Test
    void valuesHaveRoomUntilItIsFull() {
        AreaChunks chunks = new AreaChunks(4 * CHUNK);
        assertEquals(0, chunks.take(1));
        assertEquals(CHUNK, chunks.take(2 * CHUNK));
        assertEquals(AreaChunks.NONE, chunks.take(CHUNK + 1));
        assertEquals(3 * CHUNK, chunks.take(CHUNK));
        assertEquals(AreaChunks.NONE, chunks.take(1));
        chunks.give(CHUNK, 2 * CHUNK);
        assertEquals(CHUNK, chunks.take(CHUNK + 1));
        assertTrue(chunks.mayHold(4 * CHUNK));
        assertFalse(chunks.mayHold(4 * CHUNK + 1));
    }

    /** Wherever values are when rings come: later the longest value that may be held has room. */
    @Test
    void ringsDoNotCutTheArea() {
        int count = 1024;
        AreaChunks chunks = new AreaChunks((long) count * CHUNK);
        int rings = 0;
        for (int round = 0; round < 5; round++) {
            List<Long> values = new ArrayList<>();
            for (int i = 0; i < 190; i++) {
                values.add(chunks.take(CHUNK));
            }
            rings += chunks.takeRing() == AreaChunks.NONE ? 0 : 1;
            values.forEach(at -> chunks.give(at, CHUNK));
        }
        assertEquals(5, rings);
        int longest = count * CHUNK;
        while (!chunks.mayHold(longest)) {
            longest -= CHUNK;
        }
        assertTrue(longest >= (count - 2) * CHUNK, longest + " bytes");
        assertEquals(0, chunks.take(longest));
    }

    @Test
    void ringsHaveSomeOfTheAreaAndDoNotOverlap() {
        for (int count : new int[] {0, 1, 16, 64, 1024}) {
            AreaChunks chunks = new AreaChunks((long) count * CHUNK);
            long end = (long) count * CHUNK;
            long at = chunks.takeRing();
            for (; at != AreaChunks.NONE; at = chunks.takeRing()) {
                assertTrue(at >= 0 && at + ReportRing.BYTES <= end && at % 8 == 0, "ring at " + at);
                end = at;
            }
            int most = count == 0 ? 0 : Math.max(1, count / 16);
            assertTrue(end >= (long) (count - most) * CHUNK, count + " chunks");
            assertEquals(count == 0, end == (long) count * CHUNK, count + " chunks");
            assertTrue(chunks.mayHold((count - most) * CHUNK), count + " chunks");
        }
    }

    @Test
    void aRingTakesNothingFromAValue() {
        AreaChunks chunks = new AreaChunks(4 * CHUNK);
        assertEquals(0, chunks.take(4 * CHUNK));
        assertEquals(AreaChunks.NONE, chunks.takeRing());
        chunks.give(0, 4 * CHUNK);
        assertTrue(chunks.takeRing() >= 3 * CHUNK);
        assertFalse(chunks.mayHold(4 * CHUNK));
        assertEquals(0, chunks.take(3 * CHUNK));
    }
}
