package io.farheap.bench.migration;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.farheap.bench.report.Rotation;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

/** The windows of a turn rotate: each has the same mean place, and by default each place equally often. */
class MigrationTurnsTest {

    @Test
    void theUsualNumberOfMigrationsIsOfWholeRounds() {
        String usual = new CommandLine(new BenchMigrationCommand())
                .getCommandSpec()
                .findOption("--repeat")
                .defaultValue();
        assertEquals(0, Integer.parseInt(usual) % new Rotation(MigrationBench.WINDOWS).round(), usual);
    }

    /** The turns are rounded to a multiple of the sides, which need not be one of the windows. */
    @Test
    void eachWindowHasTheSameMeanPlace() {
        for (int cases = 1; cases <= 6; cases++) {
            int sides = 2 * cases;
            for (int repeat = 2; repeat <= 12; repeat++) {
                int turns = Rotation.turns(sides, repeat);
                Rotation rotation = MigrationBench.windows(sides, repeat);
                int[] places = new int[MigrationBench.WINDOWS];
                for (int turn = 0; turn < turns; turn++) {
                    int[] order = rotation.order(turn);
                    for (int place = 0; place < order.length; place++) {
                        places[order[place]] += place;
                    }
                }
                // The mean of the places 0, 1 and 2 is 1.
                assertArrayEquals(new int[] {turns, turns, turns}, places, sides + " sides, " + turns + " turns");
            }
        }
    }
}
