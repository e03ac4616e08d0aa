package io.farheap.ring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class LongRingTest {

    @Test
    void valuesComeOutInOrderAndFullIsFull() {
        LongRing ring = new LongRing(4);
        for (long round = 0; round < 100; round++) {
            assertTrue(ring.isEmpty());
            assertFalse(ring.hasNext());
            for (long i = 0; i < 4; i++) {
                assertTrue(ring.offer(round * 4 + i));
            }
            assertFalse(ring.offer(-1));
            for (long i = 0; i < 4; i++) {
                assertTrue(ring.hasNext());
                assertEquals(round * 4 + i, ring.peek());
                assertEquals(round * 4 + i, ring.peek());
                ring.remove();
            }
        }
        assertThrows(IllegalArgumentException.class, () -> new LongRing(3));
    }

    /** What the producer wrote elsewhere before a value is there when the value is. */
    @Test
    void aValueCarriesWhatWasWrittenBefore() throws InterruptedException {
        int values = 500_000;
        LongRing ring = new LongRing(64);
        long[] column = new long[64];
        // Values are indexes into the column: written before they are offered, read after they are taken.
        LongRing back = new LongRing(64);
        for (int place = 0; place < 64; place++) {
            back.offer(place);
        }
        Thread producer = new Thread(() -> {
            for (long i = 0; i < values; i++) {
                while (!back.hasNext()) {
                    Thread.yield();
                }
                int place = (int) back.peek();
                back.remove();
                column[place] = i;
                assertTrue(ring.offer(place));
            }
        });
        producer.start();
        for (long i = 0; i < values; i++) {
            while (!ring.hasNext()) {
                // Where both have one core, whoever spins keeps it from the other for a turn of the scheduler, at each
                // of 64 values.
                Thread.yield();
            }
            int place = (int) ring.peek();
            ring.remove();
            assertEquals(i, column[place]);
            assertTrue(back.offer(place));
        }
        producer.join();
    }
}
