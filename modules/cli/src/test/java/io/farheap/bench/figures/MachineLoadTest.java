package io.farheap.bench.figures;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

/** A machine is busy if other work uses it now. */
class MachineLoadTest {

    @Test
    void theLoadAverageOfABuildThatHasEndedDoesNotCount() {
        assertFalse(new MachineLoad(4.5, 2).busy(2));
        assertFalse(new MachineLoad(0, 25).busy(2));
        MachineLoad one = new MachineLoad(0.2, 50.4);
        assertTrue(one.busy(2), "a process that has just begun");
        assertEquals(
                "other work uses 50% of the processor's time (load average 0.2), and a figure needs a machine on which "
                        + "it uses at most 25%",
                one.tooMuch(2));
    }

    @Test
    void withoutTheProcessorsTimesTheLoadAverageDecides() {
        assertFalse(new MachineLoad(1, Double.NaN).busy(2));
        MachineLoad loaded = new MachineLoad(1.5, Double.NaN);
        assertTrue(loaded.busy(2));
        assertEquals("the load average is 1.5, and a figure needs a machine with at most 1.0", loaded.tooMuch(2));
        assertFalse(new MachineLoad(Double.NaN, Double.NaN).busy(2), "nothing is known");
    }
}
