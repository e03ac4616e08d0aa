package io.farheap.bench.kv.leases;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class EngineCrossingTest {

    private static final double[] GETS = {100, 80, 50};

    @Test
    void betweenTwoPlacesItIsInterpolated() {
        assertEquals(65, EngineCrossing.of(GETS, new double[] {4, 2, 0.5}), 1e-9);
        assertEquals(90, EngineCrossing.of(GETS, new double[] {0.5, 2, 4}), 1e-9);
    }

    @Test
    void aPlaceAtWhichBothAreEquallyFastIsTheCrossing() {
        assertEquals(80, EngineCrossing.of(GETS, new double[] {4, 1, 0.5}));
        assertEquals(100, EngineCrossing.of(GETS, new double[] {1, 2, 0.5}));
    }

    @Test
    void thereIsNoneIfOneIsFasterEverywhere() {
        assertEquals(Double.NaN, EngineCrossing.of(GETS, new double[] {4, 2, 1.5}));
        assertEquals(Double.NaN, EngineCrossing.of(GETS, new double[] {0.4, 0.2, 0.5}));
    }

    @Test
    void aPlaceWithoutARatioIsLeftOut() {
        assertEquals(75, EngineCrossing.of(GETS, new double[] {2, Double.NaN, 0.5}), 1e-9);
    }
}
