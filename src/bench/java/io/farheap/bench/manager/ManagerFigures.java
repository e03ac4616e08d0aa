package io.farheap.bench.manager;

import io.farheap.bench.manager.ManagerBench.Turn;
import io.farheap.bench.report.BenchReport;
import io.farheap.bench.report.MedianRatio;
import io.farheap.bench.report.Samples;
import io.farheap.bench.report.SideSetup;
import io.farheap.bench.report.Validity;
import java.util.LinkedHashMap;
import java.util.Map;
import org.HdrHistogram.Histogram;

/**
 * The figures of a manager's turns. A ratio is that of the medians over all turns; its least and its most are of the
 * rates of one turn. No RDMA device takes part, so no row is invalid.
 */
final class ManagerFigures {

    private final Samples allocated = new Samples();
    private final Samples deallocated = new Samples();
    private final Samples together = new Samples();
    private final Samples reports = new Samples();
    private final Samples single = new Samples();
    private final Samples multi = new Samples();
    private final Samples ratios = new Samples();
    private final Samples singleRatios = new Samples();
    private final Samples change = new Samples();
    private final Histogram nanos = new Histogram(3);
    private final int callers;
    private final boolean settled;
    private final int cores;
    private final long heapBytes;

    /**
     * @param settled whether the rates had settled before the first turn
     * @param cores of the machine: manager, callers and ZooKeeper have threads for more
     * @param heapBytes of this process, in which all sides are
     */
    ManagerFigures(int callers, boolean settled, int cores, long heapBytes) {
        this.callers = callers;
        this.settled = settled;
        this.cores = cores;
        this.heapBytes = heapBytes;
    }

    /** Adds a turn, and a row for it. */
    void add(BenchReport.Row row, Turn turn, double leaderMillis) {
        allocated.add(turn.allocationsPerSecond());
        deallocated.add(turn.deallocationsPerSecond());
        together.add(turn.cachesPerWrite());
        reports.add(turn.reportsPerSecond());
        single.add(turn.zookeeperSingles());
        multi.add(turn.zookeeperMultis());
        ratios.add(turn.allocationsPerSecond() / turn.zookeeperWrites());
        singleRatios.add(turn.allocationsPerSecond() / turn.zookeeperSingles());
        change.add(leaderMillis);
        nanos.add(turn.nanos());
        row.put("allocations_per_s", turn.allocationsPerSecond())
                .put("deallocations_per_s", turn.deallocationsPerSecond())
                .put("caches_per_write", turn.cachesPerWrite())
                .put("reports_per_s", turn.reportsPerSecond())
                .put("zookeeper_single_writes_per_s", turn.zookeeperSingles())
                .put("zookeeper_multi_writes_per_s", turn.zookeeperMultis())
                .put("leader_change_ms", leaderMillis);
        putMeans(row);
    }

    /** Returns the rate of allocations over ZooKeeper's better one: the ratio of their medians. */
    double ratio() {
        return MedianRatio.ofRates(Validity.NO_MODEL, allocated.median(), single.median(), multi.median());
    }

    /** Returns the rate of allocations over that of single writes: the ratio of their medians. */
    double singleRatio() {
        return MedianRatio.ofRates(Validity.NO_MODEL, allocated.median(), single.median());
    }

    double millis(double percentile) {
        return nanos.getValueAtPercentile(percentile) / 1e6;
    }

    private double mostMillis() {
        return nanos.getMaxValue() / 1e6;
    }

    /** Returns the medians as a line of the table of turns. */
    String line() {
        return String.format(
                "%-6s%15.0f%17.0f%20.0f%20.0f%10.2f%6.2f%17.0f",
                "median",
                allocated.median(),
                deallocated.median(),
                single.median(),
                multi.median(),
                singleRatio(),
                allocated.median() / multi.median(),
                change.median());
    }

    /** Returns what else is to be known, as lines for people. */
    String lines() {
        String allocation = String.format(
                "an allocation, ms: p50 %.1f, p99 %.1f, p99.9 %.1f, max %.1f; meanwhile %.0f reports/s of servers; %.1f "
                        + "caches in a write of the manager%n",
                millis(50), millis(99), millis(99.9), mostMillis(), reports.median(), together.median());
        return allocation + Validity.NO_MODEL.remark(settled);
    }

    void put(BenchReport.Row summary) {
        boolean singly = single.median() >= multi.median();
        summary.put("zookeeper_writes", singly ? "one in a request" : "50 in a request")
                .put("allocation_p50_ms", millis(50))
                .put("allocation_p99_ms", millis(99))
                .put("allocation_p999_ms", millis(99.9))
                .put("allocation_max_ms", mostMillis());
        Map<String, Samples> rates = new LinkedHashMap<>();
        rates.put("allocations_per_s", allocated);
        rates.put("deallocations_per_s", deallocated);
        rates.put("caches_per_write", together);
        rates.put("reports_per_s", reports);
        rates.put("zookeeper_writes_per_s", singly ? single : multi);
        rates.put("zookeeper_single_writes_per_s", single);
        rates.put("zookeeper_multi_writes_per_s", multi);
        rates.put("leader_change_ms", change);
        rates.forEach((name, samples) -> put(summary, name, samples.median(), samples)
                .put(name + "_p25", samples.lowerQuartile())
                .put(name + "_p75", samples.upperQuartile()));
        put(summary, "ratio", ratio(), ratios);
        put(summary, "single_ratio", singleRatio(), singleRatios);
        Validity.NO_MODEL.put(summary, settled);
    }

    /** Puts a figure, and the least and the most of one turn. */
    private static BenchReport.Row put(BenchReport.Row summary, String name, double figure, Samples turns) {
        return summary.put(name, figure).put(name + "_least", turns.least()).put(name + "_most", turns.most());
    }

    private void putMeans(BenchReport.Row row) {
        new SideSetup(heapBytes, cores, callers, 1).put(row);
        ZooKeeperWrites.singles(heapBytes, cores).put(row, "zookeeper_single_");
        ZooKeeperWrites.multis(heapBytes, cores).put(row, "zookeeper_multi_");
        Validity.NO_MODEL.put(row, settled);
    }
}
