package io.farheap.bench.report;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** No side has an advantage by the order of turns. */
class RotationTest {

    @Test
    void twoSidesAlternate() {
        Rotation rotation = new Rotation(2);
        assertArrayEquals(new int[] {0, 1}, rotation.order(0));
        assertArrayEquals(new int[] {1, 0}, rotation.order(1));
        assertArrayEquals(new int[] {0, 1}, rotation.order(2));
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4, 5, 6, 7})
    void eachSideHasEachPlaceEquallyOften(int sides) {
        Rotation rotation = new Rotation(sides);
        int[][] places = new int[sides][sides];
        for (int turn = 0; turn < rotation.round(); turn++) {
            int[] order = rotation.order(turn);
            assertArrayEquals(
                    IntStream.range(0, sides).toArray(),
                    Arrays.stream(order).sorted().toArray());
            for (int place = 0; place < sides; place++) {
                places[order[place]][place]++;
            }
        }
        for (int[] side : places) {
            for (int times : side) {
                assertEquals(rotation.round() / sides, times);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 3, 4, 5, 6, 7})
    void eachSideFollowsEachOtherEquallyOften(int sides) {
        Rotation rotation = new Rotation(sides);
        int[][] follows = new int[sides][sides];
        for (int turn = 0; turn < rotation.round(); turn++) {
            int[] order = rotation.order(turn);
            for (int place = 1; place < sides; place++) {
                follows[order[place - 1]][order[place]]++;
            }
        }
        for (int first = 0; first < sides; first++) {
            for (int next = 0; next < sides; next++) {
                assertEquals(first == next ? 0 : rotation.round() / sides, follows[first][next]);
            }
        }
    }

    @Test
    void warmUpsRotateToo() {
        Rotation rotation = new Rotation(3);
        for (int turn = 0; turn < rotation.round(); turn++) {
            assertArrayEquals(rotation.order(turn), rotation.order(turn - 5 * rotation.round()));
        }
    }

    /** 6 turns of 38 sides, or 4 of 3: no side is early more often than late. */
    @ParameterizedTest
    @CsvSource({"38, 6", "19, 4", "3, 4", "21, 2", "13, 10", "8, 5", "7, 7", "4, 100", "2, 3"})
    void eachSideHasTheSameMeanPlaceInAnyNumberOfTurnsThatIsRoundedUp(int sides, int wanted) {
        int turns = Rotation.turns(sides, wanted);
        assertTrue(turns >= wanted);
        int[] sums = new int[sides];
        Rotation rotation = new Rotation(sides, turns);
        for (int turn = 0; turn < turns; turn++) {
            int[] order = rotation.order(turn);
            assertArrayEquals(
                    IntStream.range(0, sides).toArray(),
                    Arrays.stream(order).sorted().toArray());
            for (int place = 0; place < sides; place++) {
                sums[order[place]] += place;
            }
        }
        assertEquals(
                List.of(turns * (sides - 1) / 2),
                Arrays.stream(sums).distinct().boxed().toList());
    }

    @Test
    void turnsAreRoundedUpToWholeRotationsOrToAnEvenNumber() {
        assertEquals(1, Rotation.turns(5, 1));
        assertEquals(4, Rotation.turns(5, 3));
        assertEquals(5, Rotation.turns(5, 5));
        assertEquals(10, Rotation.turns(5, 6));
        assertEquals(6, Rotation.turns(2, 5));
        assertEquals(31, Rotation.whole(31, 5));
        assertEquals(10, Rotation.whole(5, 6));
        assertEquals(1, Rotation.whole(31, 1));
    }

    @Test
    void thereIsASide() {
        assertThrows(IllegalArgumentException.class, () -> new Rotation(0));
    }
}
