package io.farheap.kv.eviction;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.kv.space.MapClock;
import org.junit.jupiter.api.Test;

class AccessClockTest {

    private static final long LARGE = 1 << 20;

    private long ticks = 1_000_000;
    private long beats;
    private int reads;

    private final MapClock clock = new MapClock() {
        @Override
        public long ticks() {
            reads++;
            return ticks;
        }

        @Override
        public long millis() {
            return ticks / 1_000_000;
        }

        @Override
        public long beats() {
            return beats;
        }
    };

    private long mostBehind(AccessClock accesses, int count, long nanosEach) {
        long behind = 0;
        reads = 0;
        for (int i = 0; i < count; i++) {
            ticks += nanosEach;
            behind = Math.max(behind, ticks - accesses.now());
        }
        return behind;
    }

    @Test
    void aFastSessionReadsTheClockSeldom() {
        AccessClock accesses = new AccessClock(clock, LARGE);
        mostBehind(accesses, 100, 500);
        assertTrue(mostBehind(accesses, 1600, 500) <= 20_000);
        assertEquals(100, reads);
    }

    @Test
    void aSlowSessionReadsItEachTime() {
        AccessClock accesses = new AccessClock(clock, LARGE);
        mostBehind(accesses, 100, 50_000);
        assertEquals(0, mostBehind(accesses, 100, 50_000));
        assertEquals(100, reads);
    }

    @Test
    void aBeatEndsWhatIsLeftOfAPause() {
        AccessClock accesses = new AccessClock(clock, LARGE);
        mostBehind(accesses, 105, 500);
        ticks += 1_000_000_000;
        beats++;
        assertEquals(ticks, accesses.now());
        assertEquals(ticks / 1_000_000_000, accesses.seconds());
    }

    @Test
    void aSmallMapsTimeIsExact() {
        AccessClock accesses = new AccessClock(clock, 500);
        assertEquals(0, mostBehind(accesses, 1000, 100));
    }
}
