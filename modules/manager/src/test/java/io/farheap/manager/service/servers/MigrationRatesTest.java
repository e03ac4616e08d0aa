package io.farheap.manager.service.servers;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.manager.allocation.Menu;
import java.util.Set;
import org.junit.jupiter.api.Test;

class MigrationRatesTest {

    private static final long GIB = 1L << 30;
    private static final long SECOND = 1_000_000_000L;

    private final MigrationRates rates = new MigrationRates();

    private long leavable() {
        return rates.leavable("t", 30_000, GIB, Menu.EMPTY);
    }

    /** One move whose client was away for long must not close a type of machines. */
    @Test
    void theFirstObservationDoesNotReplaceTheGivenRate() {
        long given = leavable();
        rates.seen("t", GIB, 40);
        assertTrue(leavable() >= given * 3 / 4, "of " + given + " regions " + leavable() + " can leave");
    }

    /** However slow, one observation moves the rate by a tenth. */
    @Test
    void noObservationDoesMuch() {
        long given = leavable();
        rates.seen("t", GIB, 1e6);
        assertTrue(leavable() >= given * 9 / 10 - 1, "of " + given + " regions " + leavable() + " can leave");
        for (int i = 0; i < 7; i++) {
            rates.seen("t", GIB, 0);
        }
        assertTrue(leavable() <= given * 4, "of " + given + " regions " + leavable() + " can leave");
    }

    /** Two caches that leave one server together move twice as much in the same time. */
    @Test
    void whatLeavesTogetherCountsTogether() {
        for (int i = 0; i < 100; i++) {
            long now = 100 * i * SECOND;
            rates.moved(1, "t", GIB, now, now + 5 * SECOND, now + 5 * SECOND);
            // Its client was away for a while, in which nothing moved.
            rates.moved(1, "t", GIB, now + 1 * SECOND, now + 5 * SECOND, now + 6 * SECOND);
            rates.moved(1, "t", 2 * GIB, now + 7 * SECOND, now + 12 * SECOND, now + 12 * SECOND);
            assertFalse(rates.settle(now + 14 * SECOND, Set::of));
            assertTrue(rates.settle(now + 18 * SECOND, Set::of));
        }
        assertEquals(4 / 10.0 * GIB, rates.bytesPerSecond("t"), GIB / 100.0);
    }

    /** They share the server's line, though they end at different times. */
    @Test
    void whatBeginsTogetherCountsTogether() {
        rates.moved(1, "t", GIB, 0, 3 * SECOND, 3 * SECOND);
        assertFalse(rates.settle(9 * SECOND, () -> Set.of(1L)));
        rates.moved(1, "t", 8 * GIB, 0, 17 * SECOND, 17 * SECOND);
        assertFalse(rates.settle(23 * SECOND, () -> Set.of(1L)));
        rates.moved(1, "t", 16 * GIB, 0, 25 * SECOND, 25 * SECOND);
        double before = rates.bytesPerSecond("t");
        assertTrue(rates.settle(31 * SECOND, () -> Set.of(2L)));
        assertEquals(1, rates.samples("t"));
        assertEquals(before + 0.2 * (GIB - before), rates.bytesPerSecond("t"), 1);
    }

    /** The client of one cache may not come back, and the server may stay. */
    @Test
    void aCacheThatStaysDoesNotKeepTheOthersFromBeingCounted() {
        rates.moved(1, "t", GIB, 0, SECOND, SECOND);
        assertFalse(rates.settle(100 * SECOND, () -> Set.of(1L)));
        assertTrue(rates.settle(122 * SECOND, () -> Set.of(1L)));
        assertEquals(1, rates.samples("t"));
    }

    /** Nothing moves off servers of a type that offers nothing, so that nothing else could show that it is faster. */
    @Test
    void aTypeThatOffersNothingIsTriedAgainAfterSomeHours() {
        for (int i = 0; i < 100; i++) {
            rates.seen("t", GIB, 100);
        }
        assertEquals(0, leavable());
        assertFalse(rates.settle(0, Set::of));
        assertFalse(rates.settle(3_600 * SECOND, Set::of));
        for (int hour = 1; hour <= 2; hour++) {
            assertTrue(rates.settle(hour * 3_601 * SECOND, Set::of));
            assertFalse(rates.settle(hour * 3_601 * SECOND, Set::of));
        }
        assertEquals(Set.of("t"), rates.takeChanged());
        assertTrue(leavable() > 0);
    }

    @Test
    void noRateIsFasterThanAnyNetwork() {
        for (int i = 0; i < 100; i++) {
            rates.seen("t", GIB, 0);
        }
        assertEquals(50e9, rates.bytesPerSecond("t"), 1e9);
    }

    @Test
    void aFewBytesSayNothing() {
        rates.moved(1, "t", MigrationRates.LEAST_BYTES - 1, 0, SECOND, SECOND);
        assertFalse(rates.settle(7 * SECOND, Set::of));
        assertEquals(0, rates.observed("t"));
    }

    @Test
    void manyObservationsDo() {
        for (int i = 0; i < 100; i++) {
            rates.seen("t", GIB, 10);
        }
        assertEquals(2, leavable(), "28 s at 10 s a region");
    }
}
