package io.farheap.bench.procedure;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

/** The time of a range over two servers, by that of each half. */
class RangeScalingTest {

    @Test
    void theSlowerHalfCountsAndTheClientsWorkForTheOther() {
        assertEquals(110, RangeScaling.computed(100, 90, 10));
        assertEquals(110, RangeScaling.computed(90, 100, 10));
    }

    /** The buffer has the words 0, 8, 16, 24, and is written three times. */
    @Test
    void theSumIsThatOfTheFill() {
        assertEquals(3 * 48, RangeScaling.sumOfFill(96, 32));
    }
}
