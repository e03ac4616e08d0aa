package io.farheap.thread.idle;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.agrona.concurrent.IdleStrategy;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class IdleTest {

    private static final int PATIENCE = Idle.SPINS + Idle.YIELDS;

    private int slept;

    @Test
    void itSleepsOnlyWhenItHasLookedInVainForAWhile() {
        IdleStrategy strategy = Idle.PARK.strategy(() -> slept++);
        for (int i = 0; i < PATIENCE; i++) {
            strategy.idle(0);
        }
        assertEquals(0, slept);
        strategy.idle(0);
        assertEquals(1, slept);
        // The strategy is patient again afterwards.
        for (int i = 0; i < PATIENCE; i++) {
            strategy.idle(0);
        }
        assertEquals(1, slept);
    }

    @Test
    void workMakesItPatientAgain() {
        IdleStrategy strategy = Idle.PARK.strategy(() -> slept++);
        for (int i = 0; i < 3 * PATIENCE; i++) {
            strategy.idle(i % PATIENCE == 0 ? 1 : 0);
        }
        assertEquals(0, slept);
    }

    @Test
    void whatASleepThrowsComesOut() {
        IllegalStateException failure = new IllegalStateException();
        IdleStrategy strategy = Idle.PARK.strategy(() -> {
            throw failure;
        });
        for (int i = 0; i < PATIENCE; i++) {
            strategy.idle(0);
        }
        assertEquals(failure, assertThrows(IllegalStateException.class, () -> strategy.idle(0)));
    }

    @ParameterizedTest
    @EnumSource(names = {"SPIN", "BACK_OFF"})
    void othersNeverSleepUntilAnEvent(Idle idle) {
        IdleStrategy strategy = idle.strategy(() -> slept++);
        for (int i = 0; i < PATIENCE + 10; i++) {
            strategy.idle(0);
        }
        assertEquals(0, slept);
    }
}
