package io.farheap.migration.region;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

/** The window grows if the copier runs dry, and shrinks slowly if it has more than it uses. */
class CopyWindowTest {

    private static final long CHUNK = 512;

    @Test
    void itDoublesWhileTheCopierRunsDryAndStopsAtTheMost() {
        CopyWindow window = new CopyWindow(CHUNK, 20 * CHUNK + 100);
        assertEquals(4 * CHUNK, window.bytes());
        window.adapt(0);
        assertEquals(8 * CHUNK, window.bytes());
        for (int i = 0; i < 10; i++) {
            window.adapt(0);
        }
        assertEquals(20 * CHUNK, window.bytes());
    }

    @Test
    void itShrinksSlowlyWhileThereIsPlentyAndNeverBelowTwoChunks() {
        CopyWindow window = new CopyWindow(CHUNK, 100 * CHUNK);
        window.adapt(0);
        long before = window.bytes();
        window.adapt(before);
        assertEquals(before, window.bytes());
        for (int i = 0; i < 1_000; i++) {
            long bytes = window.bytes();
            window.adapt(bytes);
            assertTrue(window.bytes() == bytes || window.bytes() == bytes - CHUNK);
        }
        assertEquals(2 * CHUNK, window.bytes());
    }

    @Test
    void aWindowOfOneChunkStaysThat() {
        CopyWindow window = new CopyWindow(CHUNK, CHUNK);
        window.adapt(0);
        window.adapt(CHUNK);
        assertEquals(CHUNK, window.bytes());
    }
}
