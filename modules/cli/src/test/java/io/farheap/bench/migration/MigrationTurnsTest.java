package io.farheap.bench.migration;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.farheap.bench.report.Rotation;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

/** The windows of a turn rotate: by default each has each place equally often. */
class MigrationTurnsTest {

    @Test
    void theUsualNumberOfMigrationsIsOfWholeRounds() {
        String usual = new CommandLine(new BenchMigrationCommand())
                .getCommandSpec()
                .findOption("--repeat")
                .defaultValue();
        assertEquals(0, Integer.parseInt(usual) % new Rotation(MigrationBench.WINDOWS).round(), usual);
    }
}
