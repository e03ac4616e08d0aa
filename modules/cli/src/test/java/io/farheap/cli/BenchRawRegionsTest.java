package io.farheap.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.testing.Need;
import io.farheap.testing.Needs;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

/** {@code farheap bench raw --regions}, as small as it goes. */
@Needs({Need.SOFTVERBS, Need.HOST})
class BenchRawRegionsTest {

    @TempDir
    private Path directory;

    @Test
    void thereIsARowForEachNumberOfRegionsAndOfSessions() throws Exception {
        Path json = directory.resolve("report.json");
        String arguments = "bench raw --regions 2,1 --sessions 1,2 --op write --turns 1 --json " + json;
        assertEquals(0, Main.commandLine().execute(arguments.split(" ")));
        List<Figures> rows = Figures.read(json).rows();
        assertEquals(
                List.of("write 8 1 1", "write 8 2 1", "write 8 1 2", "write 8 2 2"),
                rows.stream()
                        .map(row -> row.text("op") + " " + row.count("size") + " " + row.count("regions") + " "
                                + row.count("sessions"))
                        .toList());
        for (Figures row : rows) {
            assertTrue(row.number("session_p50_ns") > 0, row::toString);
            assertTrue(row.number("ratio_to_fewest") > 0, row::toString);
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "--regions 3|--regions 3: it must be a power of two from 1 to 16384",
                "--regions 32768|--regions 32768: it must be a power of two from 1 to 16384",
                "--regions 2 --sessions 0|--sessions 0: it must be from 1 to 64",
                "--regions 2 --op read,cas|--op cas: with --regions it must be read or write",
                "--regions 2 --size 4097|--size 4097: with --regions it must be from 1 to 4096 bytes",
                "--regions 2 --turns 0|--turns 0: it must be at least 1",
                "--regions 2 --jvms 2|--regions: with it operations follow one another in this JVM; leave out --queue-depth and --jvms",
                "--sessions 2|--sessions: it is for --regions, which is not there"
            })
    void whatMakesNoSenseIsRefusedInASentence(String options, String sentence) {
        StringWriter errors = new StringWriter();
        CommandLine command = Main.commandLine().setErr(new PrintWriter(errors, true));
        assertEquals(CommandLine.ExitCode.SOFTWARE, command.execute(("bench raw " + options).split(" ")));
        assertEquals("farheap: " + sentence, errors.toString().strip());
    }
}
