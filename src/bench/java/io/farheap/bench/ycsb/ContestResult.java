package io.farheap.bench.ycsb;

import io.farheap.bench.report.BenchReport;
import io.farheap.bench.report.Samples;
import java.io.PrintStream;
import java.util.Objects;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/** The turns of one contestant with one load. */
final class ContestResult {

    final String contestant;
    final KeyDistribution distribution;
    final int threads;
    final Samples rates = new Samples();
    private final ClientCounts tally = new ClientCounts();
    private long allocatedBytes;
    private Contestant.@Nullable Facts facts;

    ContestResult(String contestant, KeyDistribution distribution, int threads) {
        this.contestant = contestant;
        this.distribution = distribution;
        this.threads = threads;
    }

    /** Returns the same result under another name. */
    ContestResult as(String name) {
        ContestResult other = new ContestResult(name, distribution, threads);
        other.rates.addAll(rates);
        other.tally.add(tally);
        other.allocatedBytes = allocatedBytes;
        other.facts = facts;
        return other;
    }

    /** @param now facts that may change from turn to turn, as a tier's do: the last ones count */
    void add(ContestTurn turn, Contestant.Facts now) {
        rates.add(turn.opsPerSecond());
        tally.add(turn.tally());
        allocatedBytes += turn.allocatedBytes();
        facts = now;
    }

    Contestant.Facts facts() {
        return Objects.requireNonNull(facts);
    }

    private double each(long count) {
        return (double) count / Math.max(1, tally.ended);
    }

    static void printHeader(PrintStream out) {
        out.printf(
                "%-18s%-10s%8s%8s%8s%14s%30s%12s%12s%12s%12s%10s%10s%s%n",
                "contestant",
                "keys",
                "threads",
                "local",
                "far",
                "operations/s",
                "(least..most)",
                "p50 ns",
                "p99",
                "p99.9",
                "max",
                "I/Os",
                "bytes/op",
                "   by");
    }

    void print(PrintStream out) {
        Histogram latency = tally.latency();
        out.printf(
                "%-18s%-10s%8d%8.3f%8.3f%,14.0f%30s%,12d%,12d%,12d%,12d%10.3f%10.2f   %s%s%n",
                contestant,
                distribution,
                threads,
                facts().localShare(),
                facts().farShare(),
                rates.median(),
                String.format("(%,.0f..%,.0f)", rates.least(), rates.most()),
                latency.getValueAtPercentile(50),
                latency.getValueAtPercentile(99),
                latency.getValueAtPercentile(99.9),
                latency.getMaxValue(),
                each(tally.deviceReads),
                each(allocatedBytes),
                facts().engine(),
                facts().bounded() ? "" : ", unbounded");
    }

    /** @param row already has the fields that identify the figure */
    BenchReport.Row put(BenchReport.Row row, YcsbPlan plan, String model) {
        Histogram latency = tally.latency();
        return row.put("contestant", contestant)
                .put("workload", plan.workload().name())
                .put("distribution", distribution.toString())
                .put("records", plan.data().records())
                .put("value", (long) plan.data().valueBytes())
                .put("threads", (long) threads)
                .put("local_share", facts().localShare())
                .put("far_share", facts().farShare())
                .put("index_bytes", facts().indexBytes())
                .put("ops_per_s", rates.median())
                .put("ops_per_s_least", rates.least())
                .put("ops_per_s_most", rates.most())
                .put("p50_ns", latency.getValueAtPercentile(50))
                .put("p99_ns", latency.getValueAtPercentile(99))
                .put("p999_ns", latency.getValueAtPercentile(99.9))
                .put("max_ns", latency.getMaxValue())
                .put("pending_share", each(tally.pending))
                .put("ios_per_read", each(tally.deviceReads))
                .put("bytes_per_op", each(allocatedBytes))
                .put("bounded", facts().bounded())
                .put("engine", facts().engine())
                .put("device", facts().device())
                .put("model", model);
    }
}
