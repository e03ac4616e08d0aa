package io.farheap.manager.service.servers;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.manager.allocation.Menu;
import org.junit.jupiter.api.Test;

class MigrationRatesTest {

    private static final long GIB = 1L << 30;

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

    @Test
    void manyObservationsDo() {
        for (int i = 0; i < 100; i++) {
            rates.seen("t", GIB, 10);
        }
        assertEquals(3, leavable());
    }
}
