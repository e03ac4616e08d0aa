package io.farheap.procedure.service;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

/** The fuel of a slice, and whether calls run in turns, follow from measured times. */
class ServedProcedureTest {

    private static final int ASKED = 4096 * 8;

    private final ServedProcedure procedure = new ServedProcedure(1, Procs.translated(Procs.Hops.class));

    private void measured(boolean inTurns, int times, double nanos) {
        for (int i = 0; i < times; i++) {
            procedure.took(inTurns, 1000, (long) (1000 * nanos));
        }
    }

    private int turns() {
        int turns = 0;
        for (int i = 0; i < ASKED; i++) {
            turns += procedure.turns() ? 1 : 0;
        }
        return turns;
    }

    @Test
    void fuelFollowsTheMeasuredTime() {
        int cold = procedure.sliceFuel();
        assertTrue(cold > 0 && procedure.firstFuel() > 0 && procedure.firstFuel() < cold);
        measured(false, 50, 0.5);
        assertEquals(40_000, procedure.sliceFuel(), 1000);
        assertEquals(4_000, procedure.firstFuel(), 100);
        measured(false, 50, 5);
        assertEquals(4_000, procedure.sliceFuel(), 100);
        measured(false, 1000, 0);
        assertTrue(procedure.sliceFuel() <= 400_000, "" + procedure.sliceFuel());
        procedure.took(false, 0, 1_000_000);
        procedure.took(false, -1, 1_000_000);
        assertTrue(procedure.sliceFuel() > 300_000, "" + procedure.sliceFuel());
    }

    /** If the thread did not run for a while, the next slices must not be short because of that. */
    @Test
    void oneLongSliceSaysLittle() {
        measured(false, 50, 0.5);
        procedure.took(false, 1000, 50_000_000);
        assertTrue(procedure.sliceFuel() > 40_000 / 2, "" + procedure.sliceFuel());
        assertTrue(procedure.firstFuel() > 4_000 / 2, "" + procedure.firstFuel());
    }

    @Test
    void whatIsFasterIsTakenAndTheOtherTriedNowAndThen() {
        measured(false, 50, 1);
        int tried = turns();
        assertTrue(tried > 0 && tried < ASKED / 100, tried + " in turns");
        measured(true, 50, 3);
        assertEquals(tried, turns());
        measured(true, 50, 0.3);
        assertEquals(ASKED - tried, turns());
        // The fuel of a slice is computed from the times of the chosen way.
        assertEquals(20_000 / 0.3, procedure.sliceFuel(), 2000);
        // Turns are not chosen if they are hardly faster.
        measured(true, 50, 0.95);
        assertEquals(tried, turns());
        assertEquals(20_000, procedure.sliceFuel(), 1000);
    }
}
