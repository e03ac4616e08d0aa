package io.farheap.bench.cache;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.bench.report.Rotation;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The rates of a row take turns in an order that rotates: each has each place equally often. */
class CacheTurnsTest {

    /** Rows of large records have no batches, and three rates instead of five. */
    @ParameterizedTest
    @CsvSource({"3, 1", "3, 8", "5, 1", "5, 8", "5, 10", "5, 11"})
    void turnsAreOfWholeRounds(int sides, int wanted) {
        int turns = new CacheContest.Shape(16, 512, 8, 1, wanted, 1).turnsOf(sides);
        assertTrue(turns >= wanted);
        assertEquals(0, turns % new Rotation(sides).round());
    }
}
