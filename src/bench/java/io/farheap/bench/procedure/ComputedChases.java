package io.farheap.bench.procedure;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import io.farheap.bench.child.BenchJvm;
import io.farheap.bench.child.FarheapBuild;
import io.farheap.bench.report.BenchReport;
import io.farheap.measure.SoftverbsModel;
import io.farheap.procedure.format.CallFormat;
import io.farheap.rpc.message.BatchFormat;
import io.farheap.verbs.soft.SoftverbsCounters;
import java.io.IOException;
import java.io.PrintStream;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * The times of chases if the model's deadlines were kept: their time without a model, measured in a JVM of its own,
 * plus the model's time for each message on the path. A machine with few cores cannot keep the deadlines while client
 * and server are busy.
 */
final class ComputedChases {

    /** A batch of one call with 16 bytes of arguments, inline; and its answer, of an 8-byte result. */
    private static final long CALL_BYTES =
            BatchFormat.HEADER_BYTES + BatchFormat.REQUEST_BYTES + CallFormat.CALL_BYTES + 16;

    private static final long ANSWER_BYTES = BatchFormat.HEADER_BYTES + Long.BYTES + CallFormat.REPLY_BYTES + 8;

    private static final long READ_BYTES = 8;

    private ComputedChases() {}

    /** Adds a row for each depth and span, with {@code computed} true. */
    static void run(
            BenchReport report,
            PrintStream out,
            SoftverbsCounters model,
            List<Integer> depths,
            List<Long> spans,
            int repeat,
            long millis)
            throws IOException {
        JsonArray rows;
        try {
            rows = BenchJvm.run(
                    FarheapBuild.current(),
                    List.of(
                            "bench",
                            "procedure",
                            "--op",
                            "chase",
                            "--depth",
                            depths.stream().map(Object::toString).collect(Collectors.joining(",")),
                            "--span",
                            spans.stream().map(Object::toString).collect(Collectors.joining(",")),
                            "--repeat",
                            Integer.toString(repeat),
                            "--millis",
                            Long.toString(millis)),
                    BenchJvm.LIMIT,
                    Map.of(SoftverbsModel.VARIABLE, ""));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted while chases ran without a model", e);
        }
        out.printf(
                "%ncomputed: without a model, plus the model's time for each message%n%12s%6s%14s%14s%12s%n",
                "span", "depth", "call ns", "reads ns", "reads/call");
        for (JsonElement element : rows) {
            add(report, out, model, element.getAsJsonObject());
        }
    }

    static void add(BenchReport report, PrintStream out, SoftverbsCounters model, JsonObject plain) {
        long depth = plain.get("depth").getAsLong();
        long span = plain.get("span").getAsLong();
        double call = plain.get("call_p50_ns").getAsDouble() + callNanos(model);
        double read = plain.get("read_p50_ns").getAsDouble() + Math.max(1, depth) * model.readNanos(READ_BYTES);
        out.printf("%,12d%6d%,14.0f%,14.0f%12.2f%n", span, depth, call, read, read / call);
        report.row()
                .put("op", "chase")
                .put("depth", depth)
                .put("span", span)
                .put("call_p50_ns", call)
                .put("read_p50_ns", read)
                .put("ratio_p50", read / call)
                .put("computed", true);
    }

    /** Returns the model's time for both directions of a call. */
    static long callNanos(SoftverbsCounters model) {
        return model.writeNanos(CALL_BYTES, true) + model.writeNanos(ANSWER_BYTES, true);
    }
}
