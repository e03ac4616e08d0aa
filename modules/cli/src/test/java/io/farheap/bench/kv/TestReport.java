package io.farheap.bench.kv;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.farheap.bench.report.BenchOutput;
import io.farheap.bench.report.BenchReport;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** A report of which a test reads the rows. */
final class TestReport {

    @Command
    private static final class Reporting {
        @Mixin
        private BenchOutput output = new BenchOutput();
    }

    private final Reporting reporting = new Reporting();
    private final Path json;
    private final BenchReport report;

    TestReport(Path directory) {
        json = directory.resolve("report.json");
        CommandLine line = new CommandLine(reporting);
        line.parseArgs("--json", json.toString());
        report = reporting.output.report(line.getCommandSpec());
    }

    BenchReport report() {
        return report;
    }

    List<JsonObject> rows() throws IOException {
        reporting.output.write(report);
        List<JsonObject> rows = new ArrayList<>();
        JsonParser.parseString(Files.readString(json))
                .getAsJsonObject()
                .getAsJsonArray("rows")
                .forEach(row -> rows.add(row.getAsJsonObject()));
        return rows;
    }
}
