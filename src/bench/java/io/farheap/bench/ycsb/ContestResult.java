package io.farheap.bench.ycsb;

import io.farheap.bench.report.BenchReport;
import io.farheap.bench.report.MedianRatio;
import io.farheap.bench.report.ModelLateness;
import io.farheap.bench.report.Samples;
import io.farheap.bench.report.TurnWarmUp;
import io.farheap.bench.report.Validity;
import java.io.PrintStream;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/** The turns of one contestant with one load. */
final class ContestResult {

    /** The part by which the local memory of two contestants may differ and is still the same. */
    private static final double SAME_MEMORY = 0.1;

    final String contestant;
    final KeyDistribution distribution;
    /** The number of client threads in the plan. */
    final int threads;

    /** Of the log, as the plan has it. */
    final double localShare;

    final Samples rates = new Samples();
    private final long budgetBytes;
    private final ClientCounts tally = new ClientCounts();
    private long allocatedBytes;
    private int ownThreads;
    private Contestant.@Nullable Facts facts;
    private Contestant.Means means = Contestant.Means.single(0);
    private Map<String, Double> figures = Map.of();
    private TurnWarmUp warmUp = TurnWarmUp.untimed(1);
    private ModelLateness.Total late = new ModelLateness.Total();
    private int otherCores;
    private boolean onDevice;

    /**
     * @param localShare of the log, as the plan has it
     * @param budgetBytes local memory that a store has, its log and its index
     */
    ContestResult(String contestant, KeyDistribution distribution, int threads, double localShare, long budgetBytes) {
        this.contestant = contestant;
        this.localShare = localShare;
        this.distribution = distribution;
        this.threads = threads;
        this.budgetBytes = budgetBytes;
        this.ownThreads = threads;
    }

    /** Returns the same result under another name. */
    ContestResult as(String name) {
        ContestResult other = new ContestResult(name, distribution, threads, localShare, budgetBytes);
        other.rates.addAll(rates);
        other.tally.add(tally);
        other.allocatedBytes = allocatedBytes;
        other.ownThreads = ownThreads;
        other.facts = facts;
        other.means = means;
        other.figures = figures;
        other.warmUp = warmUp;
        other.late = late;
        other.otherCores = otherCores;
        other.onDevice = onDevice;
        return other;
    }

    /** Returns the number of threads that carried out its operations, which may be one of the contestant's own. */
    int ownThreads() {
        return ownThreads;
    }

    /** Adds a turn that does not count. */
    void warmUp(ContestTurn turn) {
        warmUp.add(0, turn.opsPerSecond());
    }

    /** Whether the last three turns of the warm-up agreed within 5%. */
    boolean settled() {
        return warmUp.settled();
    }

    /** Returns the validity of all turns; a contestant without far memory posts no operation that can be late. */
    Validity validity() {
        return onDevice ? late.validity() : Validity.NO_MODEL;
    }

    /** Returns the median rate; null if the turns are invalid, since a plot compares it with others. */
    @Nullable
    Double comparableRate() {
        return validity().invalid() ? null : rates.median();
    }

    /**
     * Adds a turn that counts.
     *
     * @param from its facts may change from turn to turn, as a tier's do: the last ones count
     * @param lateness counts since the turn began
     */
    void add(ContestTurn turn, Contestant from, ModelLateness lateness) {
        lateness.addTo(late);
        rates.add(turn.opsPerSecond());
        tally.add(turn.tally());
        allocatedBytes += turn.allocatedBytes();
        ownThreads = from.threads(threads);
        facts = from.facts();
        means = from.means();
        figures = from.figures();
        otherCores = from.otherCores();
        onDevice = from.onDevice();
    }

    Contestant.Facts facts() {
        return Objects.requireNonNull(facts);
    }

    /** Whether its local memory is as large as a store's; memory without a bound is not. */
    private boolean sameMemory() {
        return facts().bounded() && Math.abs(means.bytesLocal() - budgetBytes) <= SAME_MEMORY * budgetBytes;
    }

    /**
     * Returns the fastest one of some stores that has the same means: keys, threads, cores, operations in flight and in
     * a group, and as much local memory, or all records in memory as this one has.
     *
     * @return null if there is none: then a ratio would compare means, and not contestants
     */
    @Nullable
    ContestResult alike(List<ContestResult> stores) {
        return stores.stream()
                .filter(this::alike)
                .max(Comparator.comparingDouble(store -> store.rates.median()))
                .orElse(null);
    }

    private boolean alike(ContestResult store) {
        return distribution == store.distribution
                && ownThreads == store.ownThreads
                && cores() == store.cores()
                && inFlight() == store.inFlight()
                && means.group() == store.means.group()
                && facts().bounded()
                && store.facts().bounded()
                && (allLocal() && store.allLocal()
                        || !allLocal() && !store.allLocal() && sameMemory() && store.sameMemory());
    }

    private boolean allLocal() {
        return facts().localShare() == 1;
    }

    /** Puts the store with the same means, and the rate over that of the store; null if there is none. */
    void putStore(BenchReport.Row row, List<ContestResult> stores) {
        ContestResult store = alike(stores);
        row.put("store", store == null ? null : store.contestant)
                .put(
                        "ratio_to_store",
                        store == null
                                ? Double.NaN
                                : MedianRatio.ofRates(
                                        validity().worse(store.validity()), rates.median(), store.rates.median()));
    }

    private double each(long count) {
        return (double) count / Math.max(1, tally.ended);
    }

    static void printHeader(PrintStream out) {
        out.printf(
                "%-20s%-10s%8s%8s%8s%14s%30s%12s%12s%12s%12s%10s%10s%10s%8s%8s%16s%s%n",
                "contestant",
                "keys",
                "threads",
                "local",
                "far",
                "operations/s",
                "(25%..75%)",
                "p50 ns",
                "p99",
                "p99.9",
                "max",
                "I/Os",
                "bytes/op",
                "in flight",
                "group",
                "cores",
                "bytes local",
                "   by");
    }

    void print(PrintStream out) {
        Histogram latency = tally.latency();
        out.printf(
                "%-20s%-10s%8d%8.3f%8.3f%,14.0f%30s%,12d%,12d%,12d%,12d%10.3f%10.2f%,10d%8d%8d%,16d   %s%s%s  %s%n",
                contestant,
                distribution,
                ownThreads,
                facts().localShare(),
                facts().farShare(),
                rates.median(),
                String.format("(%,.0f..%,.0f)", rates.lowerQuartile(), rates.upperQuartile()),
                latency.getValueAtPercentile(50),
                latency.getValueAtPercentile(99),
                latency.getValueAtPercentile(99.9),
                latency.getMaxValue(),
                each(tally.deviceReads),
                each(allocatedBytes),
                inFlight(),
                means.group(),
                cores(),
                means.bytesLocal(),
                facts().engine(),
                facts().bounded() ? "" : ", unbounded",
                sameMemory() ? "" : ", not a store's memory",
                validity().remark(settled()));
        figures.forEach((name, value) -> out.printf("  %s %s: %.4f%n", contestant, name, value));
    }

    /** Returns the operations of all threads that are under way at a time. */
    private long inFlight() {
        return (long) ownThreads * means.inFlight();
    }

    private int cores() {
        return ownThreads + otherCores;
    }

    /** @param row already has the fields that identify the figure */
    BenchReport.Row put(BenchReport.Row row, YcsbPlan plan, String model) {
        row.put("contestant", contestant)
                .put("workload", plan.workload().name())
                .put("distribution", distribution.toString())
                .put("records", plan.data().records())
                .put("value", (long) plan.data().valueBytes())
                .put("threads", (long) ownThreads)
                .put("local_share", facts().localShare())
                .put("far_share", facts().farShare())
                .put("index_bytes", facts().indexBytes())
                .put("ops_per_s", rates.median())
                .put("ops_per_s_least", rates.least())
                .put("ops_per_s_most", rates.most());
        putLatency(row);
        row.put("pending_share", each(tally.pending))
                .put("ios_per_read", each(tally.deviceReads))
                .put("bytes_per_op", each(allocatedBytes))
                .put("bounded", facts().bounded())
                .put("engine", facts().engine())
                .put("device", facts().device())
                .put("model", model)
                .put("bytes_local", means.bytesLocal())
                .put("same_memory", sameMemory())
                .put("in_flight", inFlight())
                .put("group", (long) means.group())
                .put("cores", cores())
                .put("ops_per_s_p25", rates.lowerQuartile())
                .put("ops_per_s_p75", rates.upperQuartile());
        validity().put(row, settled());
        figures.forEach(row::put);
        return row;
    }

    /** A program that prints no latencies has none. */
    private void putLatency(BenchReport.Row row) {
        Histogram latency = tally.latency();
        if (latency.getTotalCount() == 0) {
            for (String name : new String[] {"p50_ns", "p99_ns", "p999_ns", "max_ns"}) {
                row.put(name, Double.NaN);
            }
            return;
        }
        row.put("p50_ns", latency.getValueAtPercentile(50))
                .put("p99_ns", latency.getValueAtPercentile(99))
                .put("p999_ns", latency.getValueAtPercentile(99.9))
                .put("max_ns", latency.getMaxValue());
    }
}
