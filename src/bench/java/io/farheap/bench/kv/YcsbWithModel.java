package io.farheap.bench.kv;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonPrimitive;
import io.farheap.bench.child.BenchJvm;
import io.farheap.bench.child.FarheapBuild;
import io.farheap.bench.report.BenchReport;
import io.farheap.bench.report.Validity;
import io.farheap.measure.SoftverbsModel;
import io.farheap.verbs.Devices;
import io.farheap.verbs.VerbsLibrary;
import java.io.IOException;
import java.io.PrintStream;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * The same part of YCSB with a NIC model, in a JVM of its own: softverbs reads its settings when a process begins. The
 * rows of maps are added to the report; {@code case} distinguishes them from those without a model. Peers are not
 * measured again, since they do not use the model.
 */
final class YcsbWithModel {

    private YcsbWithModel() {}

    /** @throws IllegalArgumentException if this process is not the side without a model */
    static void check(String model) {
        if (model.isEmpty()) {
            return;
        }
        if (Devices.library() != VerbsLibrary.SOFT) {
            throw new IllegalArgumentException(
                    "--nic-model " + model + ": only softverbs has models; run with -Dfarheap.verbs=soft");
        }
        String own = SoftverbsModel.of(Devices.library());
        if (!own.equals(SoftverbsModel.NONE)) {
            throw new IllegalArgumentException("--nic-model " + model + ": " + SoftverbsModel.VARIABLE
                    + " sets the model " + own + " for the run without one, too; unset it");
        }
    }

    /** Measures, prints the rows, and adds them. */
    static void run(
            BenchReport report, PrintStream out, String model, long objects, int turns, List<Integer> sessionCounts)
            throws IOException {
        JsonArray rows;
        try {
            rows = BenchJvm.run(
                    FarheapBuild.current(),
                    List.of(
                            "bench",
                            "kv",
                            "--part",
                            YcsbRow.PART,
                            "--keys",
                            Long.toString(objects),
                            "--turns",
                            Integer.toString(turns),
                            "--sessions",
                            sessionCounts.stream().map(Object::toString).collect(Collectors.joining(","))),
                    BenchJvm.LIMIT,
                    Map.of(SoftverbsModel.VARIABLE, "model=" + model + ",misses=allow"));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted while YCSB ran with the model " + model, e);
        }
        out.printf(
                "%nycsb with the model %s; over 1%% late operations make it invalid%n%-6s%-10s%10s%16s%12s%12s%10s%n",
                model, "YCSB", "keys", "sessions", "operations/s", "p50 ns", "p99", "late %");
        for (JsonElement row : rows) {
            add(report, out, model, row.getAsJsonObject());
        }
    }

    static void add(BenchReport report, PrintStream out, String model, JsonObject row) {
        Validity validity = Validity.read(row);
        out.printf(
                "%-6s%-10s%10d%16s%12s%12s%10s   %s%n",
                row.get("workload").getAsString(),
                row.get("keys").getAsString(),
                row.get("sessions").getAsLong(),
                whole(row.get("ops_per_s")),
                whole(row.get("p50_ns")),
                whole(row.get("p99_ns")),
                validity.judged() ? String.format("%.2f", validity.latePercent()) : "",
                validity.invalid() ? "INVALID" : validity.remark(true));
        BenchReport.Row added = report.row();
        row.entrySet().forEach(field -> put(added, field.getKey(), field.getValue()));
        added.put("case", "model " + model);
    }

    private static String whole(JsonElement figure) {
        return figure.isJsonNull() ? "" : String.format("%,.0f", figure.getAsDouble());
    }

    private static void put(BenchReport.Row row, String name, JsonElement value) {
        if (!(value instanceof JsonPrimitive known)) {
            row.put(name, (String) null);
        } else if (known.isBoolean()) {
            row.put(name, known.getAsBoolean());
        } else if (known.isString()) {
            row.put(name, known.getAsString());
        } else if (known.getAsString().matches("-?[0-9]+")) {
            row.put(name, known.getAsLong());
        } else {
            row.put(name, known.getAsDouble());
        }
    }
}
