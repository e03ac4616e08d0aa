package io.farheap.bench.cache;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.farheap.bench.report.Rotation;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

/** The rates of a row take turns in an order that rotates: by default each has each place equally often. */
class CacheTurnsTest {

    /** Rows of large records have no batches, and half of the sides. */
    @ParameterizedTest
    @ValueSource(ints = {CacheContest.SIDES, CacheContest.SIDES / 2})
    void theUsualNumberOfTurnsIsOfWholeRounds(int sides) {
        String usual = new CommandLine(new BenchCacheCommand())
                .getCommandSpec()
                .findOption("--turns")
                .defaultValue();
        assertEquals(0, Integer.parseInt(usual) % new Rotation(sides).round(), usual);
    }
}
