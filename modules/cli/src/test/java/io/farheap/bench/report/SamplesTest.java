package io.farheap.bench.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class SamplesTest {

    private static Samples of(double... values) {
        Samples samples = new Samples();
        for (double value : values) {
            samples.add(value);
        }
        return samples;
    }

    @Test
    void quartilesBetweenTwoValuesAreInterpolated() {
        assertEquals(new Quartiles(1.75, 2.5, 3.25), of(4, 1, 3, 2).quartiles());
        assertEquals(new Quartiles(2, 3, 4), of(5, 1, 4, 2, 3).quartiles());
    }

    @Test
    void quantilesReachFromTheLeastToTheHighest() {
        Samples samples = of(5, 1, 4, 2, 3);
        assertEquals(1, samples.quantile(0));
        assertEquals(5, samples.quantile(1));
    }

    @Test
    void oneValueIsItsOwnQuartiles() {
        assertEquals(new Quartiles(7, 7, 7), of(7).quartiles());
        assertTrue(of(7).quartiles().known());
    }

    @Test
    void noValuesHaveNone() {
        assertFalse(of().quartiles().known());
        assertEquals(Quartiles.NONE, of().quartiles());
    }
}
