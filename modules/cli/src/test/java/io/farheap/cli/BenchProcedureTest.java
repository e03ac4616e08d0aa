package io.farheap.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.bench.child.BenchJvm;
import io.farheap.bench.child.FarheapBuild;
import io.farheap.testing.Need;
import io.farheap.testing.Needs;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code farheap bench procedure}, small: the content of its report. Its figures are for a quiet machine. */
@Needs(Need.HOST)
class BenchProcedureTest {

    private static final List<String> SMALL =
            List.of("bench", "procedure", "--depth", "0,4", "--span", "64k", "--repeat", "1", "--millis", "10");

    @TempDir
    Path directory;

    private static int run(String... arguments) {
        List<String> all = new ArrayList<>(SMALL);
        all.addAll(List.of(arguments));
        return Main.commandLine().execute(all.toArray(String[]::new));
    }

    private static List<String> ops(List<Figures> rows) {
        return rows.stream().map(row -> row.text("op")).toList();
    }

    private static void assertMeasured(Figures row) {
        double late = row.number("late_pct");
        assertTrue(late >= 0 && late <= 100, row::toString);
        // On a machine of two cores the time over two servers is computed.
        boolean mayBeComputed = row.text("op").equals("range") && row.count("servers") == 2;
        assertTrue(mayBeComputed || !row.flag("computed"), row::toString);
        List<String> fields =
                switch (row.text("op")) {
                    case "chase" -> List.of("depth", "span", "call_p50_ns", "read_p50_ns");
                    case "under-way" -> List.of("depth", "span", "in_flight", "bytes_local", "call_p50_ns");
                    case "rate" -> List.of("depth", "span", "calls_per_s");
                    case "turns" -> List.of("depth", "span", "calls_per_s", "straight_calls_per_s");
                    case "tenants" -> List.of("depth", "span", "calls_per_s", "longest_stall_us");
                    case "range" -> List.of("servers", "span", "piece", "range_p50_us");
                    default -> List.of("calls_per_s", "stolen_share");
                };
        row.assertThere(fields.toArray(String[]::new));
        assertEquals(late > 1, row.flag("invalid"), row::toString);
        String ratio =
                switch (row.text("op")) {
                    case "chase" -> "ratio_p50";
                    case "range" -> "ratio_one";
                    default -> "ratio_ops";
                };
        if (row.text("op").equals("steal")) {
            return;
        }
        // A range over one server is what the other is compared with.
        boolean compares = !row.text("op").equals("range") || row.count("servers") == 2;
        if (row.flag("invalid") || !compares) {
            row.assertNone(ratio);
        } else {
            row.assertThere(ratio);
        }
    }

    @Test
    @Tag("full")
    void everyOperationHasItsRows() throws Exception {
        Path json = directory.resolve("procedure.json");
        assertEquals(0, run("--json", json.toString(), "--report", directory.toString()));
        Figures report = Figures.read(json);
        assertTrue(report.text("command").contains("bench procedure"));
        List<Figures> rows = report.rows();
        assertEquals(
                List.of(
                        "chase",
                        "chase",
                        "under-way",
                        "under-way",
                        "rate",
                        "rate",
                        "turns",
                        "turns",
                        "turns",
                        "tenants",
                        "steal",
                        "range",
                        "range"),
                ops(rows));
        rows.forEach(BenchProcedureTest::assertMeasured);
        assertTrue(Files.size(directory.resolve("procedure-chase-65536.png")) > 0);
    }

    /** The command runs in a process of its own, because the NIC model is set for a whole process. */
    @Test
    @Needs(Need.SOFTVERBS)
    @Tag("full")
    void withAModelChasesAreComputedToo() throws Exception {
        List<String> arguments = new ArrayList<>(SMALL);
        arguments.addAll(List.of("--op", "chase"));
        List<Figures> rows = Figures.rows(BenchJvm.run(
                FarheapBuild.current(), arguments, BenchJvm.LIMIT, Map.of("SOFTVERBS", "model=connectx5")));
        assertEquals(List.of("chase", "chase", "chase", "chase"), ops(rows));
        for (int i = 0; i < 2; i++) {
            Figures measured = rows.get(i);
            Figures computed = rows.get(2 + i);
            assertMeasured(measured);
            assertTrue(computed.flag("computed"));
            assertEquals(measured.count("depth"), computed.count("depth"));
            assertEquals(measured.count("span"), computed.count("span"));
            // No read ends before the model's time, which is added to the computed time; a busy machine makes it later.
            int reads = Math.max(1, computed.count("depth"));
            assertTrue(computed.number("read_p50_ns") > reads * 2900, computed::toString);
            assertTrue(computed.number("call_p50_ns") > 2900, computed::toString);
            assertTrue(measured.number("read_p50_ns") > reads * 2800, measured::toString);
        }
    }

    @Test
    void whatMakesNoSenseIsRefused() {
        for (List<String> wrong : List.of(
                List.of("--op", "nothing"),
                List.of("--depth", "-1"),
                List.of("--span", "16"),
                List.of("--repeat", "0"),
                List.of("--millis", "0"))) {
            List<String> all = new ArrayList<>(List.of("bench", "procedure"));
            all.addAll(wrong);
            assertEquals(1, Main.commandLine().execute(all.toArray(String[]::new)), wrong::toString);
        }
    }
}
