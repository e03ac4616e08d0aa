package io.farheap.bench.raw;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import io.farheap.bench.child.BenchJvm;
import io.farheap.bench.child.FarheapBuild;
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

    /** @return for each row the medians over the JVMs */
    static List<RawContest.Row> measure(int jvms, List<String> arguments) throws IOException, InterruptedException {
        List<JsonArray> runs = new ArrayList<>();
        for (int i = 0; i < jvms; i++) {
            runs.add(BenchJvm.run(FarheapBuild.current(), arguments, BenchJvm.LIMIT));
        }
        List<RawContest.Row> rows = new ArrayList<>();
        for (int row = 0; row < runs.getFirst().size(); row++) {
            JsonObject first = runs.getFirst().get(row).getAsJsonObject();
            rows.add(new RawContest.Row(
                    RawOperation.valueOf(first.get("op").getAsString().toUpperCase(Locale.ROOT)),
                    first.get("size").getAsInt(),
                    first.get("queue_depth").getAsInt(),
                    first.get("wrs_per_post").getAsInt(),
                    median(runs, row, "raw_p50_ns"),
                    median(runs, row, "raw_p25_ns"),
                    median(runs, row, "raw_p75_ns"),
                    median(runs, row, "verbs_p50_ns"),
                    median(runs, row, "session_p50_ns"),
                    median(runs, row, "untracked_p50_ns"),
                    median(runs, row, "raw_p99_ns"),
                    median(runs, row, "java_p99_ns")));
        }
        return rows;
    }

    private static double median(List<JsonArray> runs, int row, String field) {
        return RawContest.percentile(
                runs.stream()
                        .map(run -> run.get(row).getAsJsonObject().get(field))
                        .mapToDouble(RawJvms::number)
                        .toArray(),
                0.5);
    }

    private static double number(JsonElement value) {
        return value.isJsonNull() ? Double.NaN : value.getAsDouble();
    }
}
