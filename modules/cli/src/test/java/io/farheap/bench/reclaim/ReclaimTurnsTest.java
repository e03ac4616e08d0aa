package io.farheap.bench.reclaim;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

/** No window of a turn, the reclaim included, is always the last. */
class ReclaimTurnsTest {

    private final StringBuilder ran = new StringBuilder();

    private final ReclaimWindows.Steps steps = new ReclaimWindows.Steps() {
        @Override
        public void window(int number) {
            ran.append(number);
        }

        @Override
        public void startSpare() {
            ran.append('s');
        }

        @Override
        public void leaveSpare() {
            ran.append('l');
        }

        @Override
        public void judge(Runnable windows) {
            ran.append('(');
            windows.run();
            ran.append(')');
        }
    };

    @Test
    void eachWindowHasEachPlaceOnceInTheUsualNumberOfTurns() {
        int turns = BenchReclaimCommand.turns(null);
        int[][] places = new int[ReclaimBench.WINDOWS][ReclaimBench.WINDOWS];
        ReclaimWindows windows = new ReclaimWindows(turns);
        for (int turn = 0; turn < turns; turn++) {
            ran.setLength(0);
            windows.take(turn, true, steps);
            String numbers = ran.toString().replaceAll("\\D", "");
            assertEquals(ReclaimBench.WINDOWS, numbers.length());
            for (int place = 0; place < numbers.length(); place++) {
                places[numbers.charAt(place) - '0'][place]++;
            }
        }
        for (int[] window : places) {
            assertArrayEquals(new int[] {1, 1, 1, 1}, window);
        }
    }

    /** The reclaim takes the spare server: it is free before, and the windows after the reclaim have another one. */
    @Test
    void theSpareServerIsFreeBeforeTheReclaimAndAnotherOneStartsAfterIt() {
        ReclaimWindows windows = new ReclaimWindows(4);
        for (int turn = -1; turn < 4; turn++) {
            ran.setLength(0);
            windows.take(turn, true, steps);
            assertTrue(ran.toString().matches("\\([0-2]*l3\\)(s\\([0-2]+\\)l)?"), ran::toString);
        }
    }

    @Test
    void aReclaimThatMovesNothingNeedsNoSpareServer() {
        for (int turn = 0; turn < 4; turn++) {
            ran.setLength(0);
            new ReclaimWindows(4).take(turn, false, steps);
            assertTrue(ran.toString().matches("\\([0-3]{4}\\)"), ran::toString);
        }
    }

    @Test
    void otherNumbersOfTurnsAreRoundedUp() {
        assertEquals(1, BenchReclaimCommand.turns(1));
        assertEquals(4, BenchReclaimCommand.turns(3));
        assertEquals(8, BenchReclaimCommand.turns(6));
    }
}
