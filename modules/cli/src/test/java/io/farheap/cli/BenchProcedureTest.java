package io.farheap.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.farheap.bench.child.BenchJvm;
import io.farheap.bench.child.FarheapBuild;
import io.farheap.testing.Need;
import io.farheap.testing.Needs;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code farheap bench procedure}, small: what its report holds. Its figures are for a quiet machine. */
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

    private static List<String> ops(JsonArray rows) {
        List<String> ops = new ArrayList<>();
        for (JsonElement row : rows) {
            ops.add(row.getAsJsonObject().get("op").getAsString());
        }
        return ops;
    }

    private static void assertMeasured(JsonObject row) {
        double late = row.get("late_pct").getAsDouble();
        assertTrue(late >= 0 && late <= 100, row.toString());
        assertFalse(row.get("computed").getAsBoolean(), row.toString());
        List<String> fields =
                switch (row.get("op").getAsString()) {
                    case "chase" -> List.of("depth", "span", "call_p50_ns", "read_p50_ns", "ratio_p50");
                    case "rate" -> List.of("depth", "span", "calls_per_s", "ratio_ops");
                    case "turns" -> List.of("depth", "span", "calls_per_s", "straight_calls_per_s", "ratio_ops");
                    case "tenants" -> List.of("depth", "span", "calls_per_s", "ratio_ops", "longest_stall_us");
                    default -> List.of("calls_per_s", "stolen_share");
                };
        for (String field : fields) {
            assertTrue(row.get(field).getAsDouble() >= 0, () -> field + " of " + row);
        }
    }

    @Test
    void everyOperationHasItsRows() throws Exception {
        Path json = directory.resolve("procedure.json");
        assertEquals(0, run("--json", json.toString(), "--report", directory.toString()));
        JsonObject report = JsonParser.parseString(Files.readString(json)).getAsJsonObject();
        assertTrue(report.get("command").getAsString().contains("bench procedure"));
        JsonArray rows = report.getAsJsonArray("rows");
        assertEquals(
                List.of("chase", "chase", "rate", "rate", "turns", "turns", "turns", "tenants", "steal"), ops(rows));
        rows.forEach(row -> assertMeasured(row.getAsJsonObject()));
        assertTrue(Files.size(directory.resolve("procedure-chase-65536.png")) > 0);
    }

    /** A process of its own: the model is of the whole process. */
    @Test
    @Needs(Need.SOFTVERBS)
    void withAModelChasesAreComputedToo() throws Exception {
        List<String> arguments = new ArrayList<>(SMALL);
        arguments.addAll(List.of("--op", "chase"));
        JsonArray rows =
                BenchJvm.run(FarheapBuild.current(), arguments, BenchJvm.LIMIT, Map.of("SOFTVERBS", "model=connectx5"));
        assertEquals(List.of("chase", "chase", "chase", "chase"), ops(rows));
        for (int i = 0; i < 2; i++) {
            JsonObject measured = rows.get(i).getAsJsonObject();
            JsonObject computed = rows.get(2 + i).getAsJsonObject();
            assertMeasured(measured);
            assertTrue(computed.get("computed").getAsBoolean());
            assertEquals(measured.get("depth"), computed.get("depth"));
            assertEquals(measured.get("span"), computed.get("span"));
            // Four reads wait for the model one after another, whatever else the machine does; a call does once.
            long reads = Math.max(1, computed.get("depth").getAsLong());
            assertTrue(computed.get("read_p50_ns").getAsDouble() > reads * 2900, computed::toString);
            assertTrue(computed.get("call_p50_ns").getAsDouble() > 2900, computed::toString);
            assertTrue(measured.get("read_p50_ns").getAsDouble() > reads * 2800, measured::toString);
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
