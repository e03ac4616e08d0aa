package io.farheap.bench.resilience;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.farheap.bench.report.BenchOutput;
import io.farheap.bench.report.BenchReport;
import io.farheap.resilience.contract.CodedStatus;
import io.farheap.resilience.contract.Resilience;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** The measured ratios that the paper has, too. Its values are in the report's rows, and in no line for people. */
class PaperFiguresTest {

    private static final RequestKind READ = new RequestKind(false, 4096);
    private static final RequestKind WRITE = new RequestKind(true, 4096);
    private static final MemoryKind CODED =
            MemoryKind.coded(Resilience.failureRecovery(8, 2).additional(1));
    private static final MemoryKind TWO_COPIES = baseline(MemoryKind.TWO_COPIES);
    private static final MemoryKind BACKUP = baseline(MemoryKind.SSD_BACKUP);

    @TempDir
    Path directory;

    private static MemoryKind baseline(String name) {
        return MemoryKind.baseline(
                name, Resilience.failureRecovery(8, 2), Path.of(System.getProperty("java.io.tmpdir")));
    }

    /** One turn of one request. */
    private static RequestTally tally(long nanos) {
        RequestTally tally = new RequestTally();
        tally.ended(CodedStatus.OK, nanos, 0);
        tally.endTurn();
        return tally;
    }

    @Command
    private static final class Reporting {
        @Mixin
        private BenchOutput output = new BenchOutput();
    }

    private record Told(JsonObject row, List<String> lines) {}

    private Told tell(
            MemoryKind kind,
            RequestKind access,
            String fault,
            Map<MemoryKind, RequestTally> same,
            @Nullable RequestTally without)
            throws Exception {
        Path json = directory.resolve("report.json");
        Reporting reporting = new Reporting();
        CommandLine line = new CommandLine(reporting);
        line.parseArgs("--json", json.toString());
        BenchReport report = reporting.output.report(line.getCommandSpec());
        List<String> lines = PaperFigures.put(report.row(), kind, access, fault, same, without);
        reporting.output.write(report);
        JsonObject all = JsonParser.parseString(Files.readString(json)).getAsJsonObject();
        return new Told(all.getAsJsonArray("rows").get(0).getAsJsonObject(), lines);
    }

    private static double number(Told told, String field) {
        return told.row().get(field).getAsDouble();
    }

    @Test
    void aRowOfWhatIsCodedHasThePapersRatioAndTheSameOneOfThisRun() throws Exception {
        Map<MemoryKind, RequestTally> same = Map.of(CODED, tally(1000), TWO_COPIES, tally(2000), BACKUP, tally(4000));
        Told read = tell(CODED, READ, FaultOptions.BACKGROUND, same, null);
        assertEquals(0.5, number(read, "ratio_p99_to_two_copies"), 0.01);
        assertEquals(1 / 1.33, number(read, "paper_ratio_p99_to_two_copies"), 0.001);
        assertEquals(0.25, number(read, "ratio_p50_to_ssd_backup"), 0.01);
        assertEquals(1 / 2.56, number(read, "paper_ratio_p50_to_ssd_backup_least"), 0.001);
        assertEquals(1 / 1.97, number(read, "paper_ratio_p50_to_ssd_backup"), 0.001);
        assertEquals("figure 12a", read.row().get("paper_figure").getAsString());
        assertTrue(
                read.lines().contains("  read p99 to two-copies: 0.50 (the ratio of the paper's figure 12a)"),
                () -> read.lines().toString());
        Told write = tell(CODED, WRITE, FaultOptions.CRASH, same, null);
        assertEquals(1, number(write, "paper_ratio_p99_to_two_copies"));
        assertEquals(1 / 4.79, number(write, "paper_ratio_p50_to_ssd_backup"), 0.001);
    }

    @Test
    void whatDidNotRunIsNotMeasured() throws Exception {
        Told read = tell(CODED, READ, FaultOptions.NONE, Map.of(CODED, tally(1000)), null);
        assertTrue(read.row().get("ratio_p50_to_ssd_backup").isJsonNull(), read::toString);
        assertEquals(1 / 1.79, number(read, "paper_ratio_p50_to_ssd_backup"), 0.001);
        assertTrue(
                read.lines().contains("  read p50 to ssd-backup: not measured (the ratio of the paper's figure 9)"),
                () -> read.lines().toString());
    }

    @Test
    void aPartOfHydraIsComparedWithWhatLacksIt() throws Exception {
        MemoryKind polls = baseline(HydraParts.RUN_TO_COMPLETION.kind);
        MemoryKind inPlace = baseline(HydraParts.IN_PLACE_CODING.kind);
        MemoryKind overlaps = baseline(HydraParts.ASYNCHRONOUS_ENCODING.kind);
        Map<MemoryKind, RequestTally> same = Map.of(polls, tally(4000), inPlace, tally(3000), overlaps, tally(1500));
        Told read = tell(inPlace, READ, FaultOptions.NONE, same, null);
        assertEquals(0.75, number(read, "ratio_p50_to_ec_cache_run_to_completion"), 0.01);
        assertEquals(0.72, number(read, "paper_ratio_p50_to_ec_cache_run_to_completion"), 0.001);
        Told write = tell(overlaps, WRITE, FaultOptions.NONE, same, null);
        assertEquals(0.5, number(write, "ratio_p50_to_ec_cache_in_place_coding"), 0.01);
        assertEquals("figure 10", write.row().get("paper_figure").getAsString());
        assertEquals(
                List.of(), tell(overlaps, READ, FaultOptions.NONE, same, null).lines());
    }

    /** A sleeping client is a weak baseline on one machine: what is coded stands beside one that polls, too. */
    @Test
    void whatIsCodedIsComparedWithAnEcCacheThatPolls() throws Exception {
        MemoryKind polls = baseline(MemoryKind.POLLING_EC_CACHE);
        Map<MemoryKind, RequestTally> same = Map.of(CODED, tally(1000), polls, tally(2000));
        Told read = tell(CODED, READ, FaultOptions.NONE, same, null);
        assertEquals(0.5, number(read, "ratio_p50_to_ec_cache_run_to_completion"), 0.01);
        assertEquals(0.72, number(read, "paper_ratio_p50_to_ec_cache_run_to_completion"), 0.001);
        Told write = tell(CODED, WRITE, FaultOptions.NONE, same, null);
        assertEquals(0.72 * 0.62, number(write, "paper_ratio_p50_to_ec_cache_run_to_completion"), 0.001);
    }

    @Test
    void corruptionIsComparedWithItsOwnFiguresWithoutIt() throws Exception {
        MemoryKind corrects = MemoryKind.coded(Resilience.corruptionCorrection(8, 3));
        Told read = tell(corrects, READ, FaultOptions.CORRUPTION, Map.of(corrects, tally(2000)), tally(1000));
        assertEquals(1.51, number(read, "paper_ratio_p99_to_none"));
        assertTrue(
                read.lines().contains("  read p99 to none: 2.00 (the ratio of the paper's figure 11)"),
                () -> read.lines().toString());
    }

    @Test
    void ofOtherRowsThePaperSaysNothing() throws Exception {
        Map<MemoryKind, RequestTally> same = Map.of(CODED, tally(1000), TWO_COPIES, tally(2000));
        assertEquals(
                List.of(), tell(TWO_COPIES, READ, FaultOptions.NONE, same, null).lines());
        assertEquals(
                List.of(),
                tell(CODED, new RequestKind(false, 64), FaultOptions.NONE, same, null)
                        .lines());
        Told burst = tell(CODED, READ, FaultOptions.BURST, same, null);
        assertEquals(List.of(), burst.lines());
        assertTrue(burst.row().keySet().isEmpty(), burst::toString);
    }
}
