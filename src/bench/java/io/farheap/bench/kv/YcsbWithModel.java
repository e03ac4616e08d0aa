package io.farheap.bench.kv;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
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
import java.util.function.Consumer;
import java.util.stream.Collectors;

/**
 * The same part of YCSB with a NIC model, in JVMs of its own: softverbs reads its settings when a process begins. The
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

    /** Measures the side without a model. */
    @FunctionalInterface
    interface PlainRun {

        /** @param half of the run, for its rows */
        void measure(BenchReport half, int turns) throws IOException;
    }

    /** Measures the side with a model. */
    @FunctionalInterface
    interface ModelRun {

        /** Returns the rows of a half of the run. */
        List<JsonObject> measure(int turns) throws IOException;
    }

    /**
     * Measures both sides in halves: without the model, with it twice, and again without it. So both have the same mean
     * place, although they are different processes.
     *
     * @param turns of each side that count, at least
     */
    static void beside(BenchReport report, int turns, PlainRun plain, ModelRun withModel, Consumer<JsonObject> added)
            throws IOException {
        int half = Math.ceilDiv(turns, 2);
        BenchReport first = report.another();
        plain.measure(first, half);
        List<JsonObject> one = withModel.measure(half);
        List<JsonObject> other = withModel.measure(half);
        BenchReport second = report.another();
        plain.measure(second, half);
        HalvedRows.put(report, first.rows(), second.rows());
        BenchReport both = report.another();
        HalvedRows.put(both, one, other);
        both.rows().forEach(added);
    }

    /** Returns the rows of maps with a model, in a JVM of its own. */
    static List<JsonObject> rows(String model, long objects, int turns, List<Integer> sessionCounts)
            throws IOException {
        try {
            return BenchJvm.run(
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
                            Map.of(SoftverbsModel.VARIABLE, "model=" + model + ",misses=allow"))
                    .asList()
                    .stream()
                    .map(JsonElement::getAsJsonObject)
                    .toList();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted while YCSB ran with the model " + model, e);
        }
    }

    /** Prints the title of the rows that {@link #add} prints. */
    static void title(PrintStream out, String model) {
        out.printf(
                "%nycsb with the model %s; over 1%% late operations make it invalid%n%-6s%-10s%10s%16s%12s%12s%10s%n",
                model, "YCSB", "keys", "sessions", "operations/s", "p50 ns", "p99", "late %");
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
        report.row().putAll(row).put("case", "model " + model);
    }

    private static String whole(JsonElement figure) {
        return figure.isJsonNull() ? "" : String.format("%,.0f", figure.getAsDouble());
    }
}
