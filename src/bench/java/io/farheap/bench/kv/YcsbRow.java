package io.farheap.bench.kv;

import io.farheap.bench.report.BenchReport;
import io.farheap.bench.report.Validity;
import java.io.PrintStream;
import org.HdrHistogram.Histogram;

/**
 * A row of YCSB's table: what one store did at one point. Without validity it has operations and hits, but neither
 * rates nor times.
 *
 * @param bytesRemote memory of the store's server
 * @param serverNanos processor time of the store's server, for all requests of the result
 */
record YcsbRow(
        YcsbPoint point,
        YcsbStore store,
        long bytesRemote,
        ClosedLoop.LoopResult result,
        long serverNanos,
        Validity validity,
        boolean settled) {

    static final String PART = "ycsb";

    static void printHeader(PrintStream out) {
        out.printf(
                "%-6s%-10s%-15s%-11s%10s%16s%12s%12s%12s%12s%12s%10s%n",
                "YCSB",
                "keys",
                "store",
                "model",
                "sessions",
                "operations/s",
                "p50 ns",
                "p99",
                "p99.9",
                "max",
                "messages",
                "hit %");
    }

    /** Prints the row, and adds it to the report. */
    void put(BenchReport report, PrintStream out) {
        Histogram latency = result.latency();
        double p50 = validity.compared((double) latency.getValueAtPercentile(50));
        double p99 = validity.compared((double) latency.getValueAtPercentile(99));
        double p999 = validity.compared((double) latency.getValueAtPercentile(99.9));
        double max = validity.compared((double) latency.getMaxValue());
        // The paper measured maps.
        double paper = store instanceof MapStore ? point.workload().paperRate : Double.NaN;
        out.printf(
                "%-6s%-10s%-15s%-11s%10d%,16.0f%,12.0f%,12.0f%,12.0f%,12.0f%12.3f%10.2f   %s%n",
                point.workload().name(),
                point.keys(),
                store.engine(),
                store.model(),
                point.sessions(),
                validity.compared(result.rates().median()),
                p50,
                p99,
                p999,
                max,
                result.posted().operations() / (double) Math.max(1, result.requests()),
                result.hitPercent(),
                validity.remark(settled));
        BenchReport.Row row = report.row()
                .put("part", PART)
                .put("engine", store.engine())
                .put("workload", point.workload().name())
                .put("keys", point.keys())
                .put("sessions", (long) point.sessions())
                .put("threads", (long) ClosedLoop.threads(point.sessions()))
                .put("model", store.model());
        store.setup(point.sessions()).put(row).put("bytes_remote", bytesRemote);
        result.put(row, validity)
                .put("server_cpu_ns", validity.compared(result.serverCpuNanosOfOne(serverNanos)))
                .put("p999_ns", p999)
                .put("max_ns", max)
                .put("paper_ops_per_s", paper);
        validity.put(row, settled);
    }
}
