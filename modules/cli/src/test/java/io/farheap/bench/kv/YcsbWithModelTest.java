package io.farheap.bench.kv;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Rows of the run with a model are in the report as they were measured, and are told from the others. */
class YcsbWithModelTest {

    @TempDir
    Path directory;

    private static JsonObject row(String figures) {
        String text = "{'part': 'ycsb', 'workload': 'A', 'keys': 'uniform', 'sessions': 8, 'p99_ns': null, " + figures
                + ", 'settled': true}";
        return JsonParser.parseString(text.replace('\'', '"')).getAsJsonObject();
    }

    private String added(TestReport report, JsonObject row) {
        ByteArrayOutputStream printed = new ByteArrayOutputStream();
        try (PrintStream out = new PrintStream(printed, true, StandardCharsets.UTF_8)) {
            YcsbWithModel.add(report.report(), out, "connectx5", row);
        }
        return printed.toString(StandardCharsets.UTF_8);
    }

    @Test
    void aRowIsCopied() throws Exception {
        JsonObject row = row("'ops_per_s': 1000.5, 'p50_ns': 2.0, 'late_pct': 0.25, 'invalid': false");
        TestReport report = new TestReport(directory);
        String printed = added(report, row);
        assertFalse(printed.contains("INVALID"), printed);
        JsonObject copied = report.rows().getFirst();
        row.addProperty("case", "model connectx5");
        assertEquals(row, copied);
    }

    @Test
    void anInvalidRowStaysInvalid() throws Exception {
        JsonObject row = row("'ops_per_s': null, 'p50_ns': null, 'late_pct': 15.0, 'invalid': true");
        TestReport report = new TestReport(directory);
        String printed = added(report, row);
        assertTrue(printed.contains("15.00   INVALID"), printed);
        JsonObject copied = report.rows().getFirst();
        assertTrue(copied.get("invalid").getAsBoolean());
        assertTrue(copied.get("ops_per_s").isJsonNull());
    }

    @Test
    void aRowOfReadsAloneSaysThatItWasNotJudged() throws Exception {
        JsonObject row = row("'ops_per_s': 1000.5, 'p50_ns': 2.0, 'late_pct': null, 'invalid': false");
        TestReport report = new TestReport(directory);
        String printed = added(report, row);
        assertTrue(printed.contains("not judged: READs alone"), printed);
        assertTrue(report.rows().getFirst().get("late_pct").isJsonNull());
    }

    @Test
    void withoutAModelNothingIsChecked() {
        assertDoesNotThrow(() -> YcsbWithModel.check(""));
    }
}
