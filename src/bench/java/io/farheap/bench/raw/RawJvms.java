package io.farheap.bench.raw;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import io.farheap.bench.child.BenchJvm;
import io.farheap.bench.child.FarheapBuild;
import io.farheap.bench.report.Quartiles;
import io.farheap.bench.report.Samples;
import io.farheap.bench.report.Validity;
import io.farheap.measure.LateOperations;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * {@code bench raw} in several JVMs, one after the other: in one of six the code is compiled, or the memory is placed,
 * worse than in the others.
 */
final class RawJvms {

    private RawJvms() {}

    /**
     * Runs the JVMs. With a NIC model softverbs would end a JVM with status 99 if over 1% of its operations were late;
     * that is allowed here, since the rows say it.
     *
     * @return for each row the medians over the JVMs; a row is as valid as in the worst of them
     */
    static List<RawRow> measure(int jvms, List<String> arguments) throws IOException, InterruptedException {
        List<JsonArray> runs = new ArrayList<>();
        for (int i = 0; i < jvms; i++) {
            runs.add(BenchJvm.run(FarheapBuild.current(), arguments, BenchJvm.LIMIT, LateOperations.environment()));
        }
        return rows(runs);
    }

    /** @param runs each with the rows of one JVM, the same rows in the same order */
    static List<RawRow> rows(List<JsonArray> runs) {
        List<RawRow> rows = new ArrayList<>();
        for (int row = 0; row < runs.getFirst().size(); row++) {
            int number = row;
            rows.add(row(
                    runs.stream().map(run -> run.get(number).getAsJsonObject()).toList()));
        }
        return rows;
    }

    private static RawRow row(List<JsonObject> runs) {
        JsonObject first = runs.getFirst();
        return new RawRow(
                RawOperation.valueOf(first.get("op").getAsString().toUpperCase(Locale.ROOT)),
                first.get("size").getAsInt(),
                first.get("queue_depth").getAsInt(),
                first.get("wrs_per_post").getAsInt(),
                quartiles(runs, "raw"),
                quartiles(runs, "verbs"),
                quartiles(runs, "session"),
                quartiles(runs, "untracked"),
                median(runs, "raw_p99_ns"),
                median(runs, "java_p99_ns"),
                runs.stream().allMatch(run -> run.get("settled").getAsBoolean()),
                runs.stream().map(Validity::read).reduce(Validity.NO_MODEL, Validity::worse));
    }

    private static Quartiles quartiles(List<JsonObject> runs, String side) {
        return new Quartiles(
                median(runs, side + "_p25_ns"), median(runs, side + "_p50_ns"), median(runs, side + "_p75_ns"));
    }

    private static double median(List<JsonObject> runs, String field) {
        Samples samples = new Samples();
        runs.forEach(run -> samples.add(number(run.get(field))));
        return samples.median();
    }

    private static double number(JsonElement value) {
        return value.isJsonNull() ? Double.NaN : value.getAsDouble();
    }
}
