package io.farheap.bench.reclaim;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.farheap.bench.report.Rotation;
import org.junit.jupiter.api.Test;

/** No window of a turn, the reclaim included, is always the last. */
class ReclaimTurnsTest {

    @Test
    void eachWindowHasEachPlaceOnceInTheUsualNumberOfTurns() {
        int turns = BenchReclaimCommand.turns(null);
        int[][] places = new int[ReclaimBench.WINDOWS][ReclaimBench.WINDOWS];
        Rotation rotation = new Rotation(ReclaimBench.WINDOWS, turns);
        for (int turn = 0; turn < turns; turn++) {
            int[] order = rotation.order(turn);
            for (int place = 0; place < order.length; place++) {
                places[order[place]][place]++;
            }
        }
        for (int[] window : places) {
            assertArrayEquals(new int[] {1, 1, 1, 1}, window);
        }
    }

    @Test
    void otherNumbersOfTurnsAreRoundedUp() {
        assertEquals(1, BenchReclaimCommand.turns(1));
        assertEquals(4, BenchReclaimCommand.turns(3));
        assertEquals(8, BenchReclaimCommand.turns(6));
    }
}
