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

    /** A consumer that takes a value sees all that the producer wrote before it offered the value. */
    @Test
    void aValueCarriesWhatWasWrittenBefore() throws InterruptedException {
        int values = 500_000;
        LongRing ring = new LongRing(64);
        long[] column = new long[64];
        // The values are indexes into the column: the producer writes an element before it offers its index, and the
        // consumer reads the element after it has taken the index.
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
                // If both threads share one core, a thread that spun would keep the core from the other for a time
                // slice of the scheduler, once for every 64 values.
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
