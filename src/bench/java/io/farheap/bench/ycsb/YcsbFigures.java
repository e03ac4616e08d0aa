package io.farheap.bench.ycsb;

import io.farheap.bench.report.BenchReport;
import io.farheap.command.Plot;
import io.farheap.memory.Plurals;
import java.io.IOException;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Figures 18 to 20 of Redy, with fewer records in the same shares. */
final class YcsbFigures implements AutoCloseable {

    /** The share of the log in local memory: the paper's 1 of 6 GB. */
    static final double LOCAL_SHARE = 1 / 6.0;

    /** The share for the paper's log of 8-byte values with less local memory, figure 18c. */
    private static final double LITTLE = 1 / 24.0;
    /** The shares for its log of 260 GB with 1 KB values, figures 18d to 18h. */
    private static final List<Double> LARGE = List.of(10 / 260.0, 20 / 260.0, 40 / 260.0, 80 / 260.0);

    private static final List<Double> LOCAL_SHARES = List.of(0.0, 1 / 6.0, 1 / 3.0, 1 / 2.0, 2 / 3.0, 1.0);

    private static final List<KeyDistribution> DISTRIBUTIONS =
            List.of(KeyDistribution.UNIFORM, KeyDistribution.ZIPFIAN);

    private static final List<String> STORES = List.of(
            Contest.LOCAL,
            Contest.LOCAL_SINGLE,
            Contest.FAR,
            Contest.RAW,
            Contest.FILE,
            Contest.FILE_GROUP,
            Contest.FILE_SINGLE,
            Contest.FIO,
            Contest.TIERED,
            Contest.FAR_CACHED,
            Contest.FILE_CACHED);
    /** Stores that a contestant with the same means is compared with. */
    private static final List<String> PLAIN_STORES = List.of(
            Contest.LOCAL, Contest.LOCAL_SINGLE, Contest.FAR, Contest.FILE, Contest.FILE_GROUP, Contest.FILE_SINGLE);

    /** Stores of figure 18 that take part with other shares of local memory, too. */
    private static final List<String> SHARED =
            List.of(Contest.FAR, Contest.FILE, Contest.TIERED, Contest.FAR_CACHED, Contest.FILE_CACHED);

    /** Stores of figure 19 of which the share of local memory varies. */
    private static final List<String> SPLITS = List.of(Contest.FAR, Contest.FILE);

    private static final List<String> OTHERS = List.of(
            Contest.OFF_HEAP,
            Contest.OFF_HEAP_TOUCHED,
            Contest.HEAP_MAP,
            Contest.AGRONA,
            Contest.AGRONA_TOUCHED,
            Contest.FAR_CAFFEINE,
            Contest.FASTER,
            "rocksdb",
            "rocksdb-64",
            "rocksdb-multiget",
            "rocksdb-async",
            "rocksdb-index",
            "rocksdb-index-get",
            "rocksdb-index-64",
            "rocksdb-index-async",
            Contest.DB_BENCH,
            "lmdb",
            "mapdb",
            "redis",
            "redis-mget",
            Contest.REDIS_BENCHMARK,
            "memcached",
            Contest.MEMCSLAP);

    private final BenchReport report;
    private final PrintStream out;
    private final PrintWriter progress;
    private final FarCachePool memories = new FarCachePool();
    private final List<Plot> plots = new ArrayList<>();
    /** Null if no menu is given. */
    private final @Nullable MemoryPrices prices;

    private final List<Double> wanted;

    /** @param wanted throughputs for which figure 19 names the cheapest split, by the prices */
    YcsbFigures(
            BenchReport report,
            PrintStream out,
            PrintWriter progress,
            @Nullable MemoryPrices prices,
            List<Double> wanted) {
        this.report = report;
        this.out = out;
        this.progress = progress;
        this.prices = prices;
        this.wanted = wanted;
    }

    List<Plot> plots() {
        return plots;
    }

    /** Measures throughput of all contestants, uniform and Zipfian, at the paper's share of local memory. */
    void figure18(YcsbPlan plan) throws IOException {
        List<String> all = new ArrayList<>(STORES);
        all.addAll(OTHERS);
        all.addAll(Contest.ELSEWHERE.keySet());
        boolean small = plan.data().valueBytes() == Long.BYTES;
        double share = small ? LOCAL_SHARE : LARGE.getFirst();
        List<Double> others = small ? List.of(LITTLE) : LARGE.subList(1, LARGE.size());
        header(18, plan, "%.0f %% of the log in local memory, and other shares".formatted(100 * share));
        try (Contest contest = new Contest(plan, memories, progress)) {
            contest.open(all, share, DISTRIBUTIONS);
            for (double other : others) {
                contest.open(SHARED, other, List.of(KeyDistribution.ZIPFIAN));
            }
            List<ContestResult> results = contest.run(DISTRIBUTIONS);
            write(18, plan, results);
            writeAbsent(18, contest.absent());
            bars(
                    plan,
                    results.stream()
                            .filter(result -> result.localShare == share)
                            .toList(),
                    "");
            for (double other : others) {
                bars(
                        plan,
                        results.stream()
                                .filter(result -> result.localShare == other)
                                .toList(),
                        small ? "-little" : "-" + Math.round(100 * other));
            }
        }
    }

    private void bars(YcsbPlan plan, List<ContestResult> results, String suffix) {
        for (KeyDistribution distribution : KeyDistribution.values()) {
            List<ContestResult> shown = results.stream()
                    .filter(result -> result.distribution == distribution)
                    .toList();
            if (shown.isEmpty()) {
                continue;
            }
            Plot plot = Plot.bars(
                            "ycsb-18-" + distribution + "-" + plan.data().valueBytes() + suffix,
                            "Reads of " + plan.data().valueBytes() + "-byte values, " + distribution + " keys",
                            "",
                            "operations a second")
                    .logarithmicY();
            List<String> names =
                    shown.stream().map(result -> result.contestant).distinct().toList();
            rates(shown, names).forEach((threads, rates) -> plot.series(Plurals.of(threads, "thread"), names, rates));
            plots.add(plot);
        }
    }

    /**
     * Returns the rates of contestants by the number of threads that carried out their operations. A contestant that
     * has a number of threads of its own stands in no other series.
     */
    static SortedMap<Integer, List<@Nullable Double>> rates(List<ContestResult> results, List<String> names) {
        SortedMap<Integer, List<@Nullable Double>> rates = new TreeMap<>();
        for (ContestResult result : results) {
            int threads = result.ownThreads();
            rates.computeIfAbsent(threads, added -> names.stream()
                    .<@Nullable Double>map(name -> rate(results, name, threads))
                    .toList());
        }
        return rates;
    }

    /** Returns null for an invalid result, and for a contestant that was not measured with so many threads. */
    private static @Nullable Double rate(List<ContestResult> results, String name, int threads) {
        return results.stream()
                .filter(result -> result.contestant.equals(name) && result.ownThreads() == threads)
                .findFirst()
                .map(ContestResult::comparableRate)
                .orElse(null);
    }

    /**
     * Measures shares of local memory from none to all of the log, uniform. The stores of all shares, and one with all
     * memory local, take turns with each other.
     */
    void figure19(YcsbPlan plan) throws IOException {
        Map<String, TreeMap<Double, Double>> lines = new TreeMap<>();
        LogSplits splits =
                prices == null ? null : new LogSplits(prices, plan.data().logBytes());
        header(19, plan, "none to all of the log in local memory");
        try (Contest contest = new Contest(plan, memories, progress)) {
            List<KeyDistribution> uniform = List.of(KeyDistribution.UNIFORM);
            contest.open(List.of(Contest.LOCAL), 1, uniform);
            for (double share : LOCAL_SHARES) {
                contest.open(SPLITS, share, uniform);
            }
            contest.open(List.of(Contest.RAW, Contest.FIO), LOCAL_SHARE, uniform);
            List<ContestResult> results = contest.run(uniform);
            write(19, plan, results);
            writeAbsent(19, contest.absent());
            for (ContestResult result : results) {
                Double all = rate(results, Contest.LOCAL, result.threads);
                Double median = result.comparableRate();
                if (all == null || median == null || !SPLITS.contains(result.contestant)) {
                    continue;
                }
                lines.computeIfAbsent(
                                result.contestant + ", " + Plurals.of(result.threads, "thread"),
                                ignored -> new TreeMap<>())
                        .put(100 * result.localShare, median / all);
                if (splits != null) {
                    splits.add(result);
                }
            }
        }
        if (splits != null) {
            splits.print(out, wanted);
        }
        Plot plot = Plot.lines(
                "ycsb-19-" + plan.data().valueBytes(),
                "Uniform reads of " + plan.data().valueBytes() + "-byte values",
                "local memory, % of the log",
                "throughput, all local = 1");
        lines.forEach((name, line) -> plot.series(name, numbers(line.keySet()), numbers(line.values())));
        plots.add(plot);
    }

    /** Measures far memory from none to all of what is not local, resized while it is used. */
    void figure20(YcsbPlan plan) throws IOException {
        header(20, plan, "%.0f %% of the log in local memory, the rest on files".formatted(100 * LOCAL_SHARE));
        try (Contest contest = new Contest(plan, memories, progress)) {
            contest.open(List.of(Contest.RESIZED), LOCAL_SHARE, DISTRIBUTIONS);
            writeAbsent(20, contest.absent());
            if (contest.contestant(Contest.RESIZED) instanceof StoreContestant store
                    && store.storage() instanceof TieredStorage storage) {
                plots.add(new ResizedTier(plan, contest, store, storage).run(this));
            }
        }
    }

    static double[] numbers(Collection<Double> values) {
        return values.stream().mapToDouble(Double::doubleValue).toArray();
    }

    void header(int figure, YcsbPlan plan, String what) {
        out.printf(
                "%nfigure %d: %,d records with values of %d bytes, a log of %,d bytes, %s; medians of at least %d turns of %d ms%n",
                figure,
                plan.data().records(),
                plan.data().valueBytes(),
                plan.data().logBytes(),
                what,
                plan.rounds(),
                plan.turnNanos() / 1_000_000);
    }

    void write(int figure, YcsbPlan plan, List<ContestResult> results) {
        ContestResult.printHeader(out);
        List<ContestResult> stores = results.stream()
                .filter(result -> PLAIN_STORES.contains(result.contestant))
                .toList();
        for (ContestResult result : results) {
            result.print(out);
            BenchReport.Row row = result.put(report.row().put("figure", (long) figure), plan, report.model());
            if (!STORES.contains(result.contestant)) {
                result.putStore(row, stores);
            }
            if (prices != null) {
                row.put(
                                "price_tib_hour",
                                prices.withIndex(result.facts(), plan.data().logBytes()))
                        .put("price_tib_hour_without_index", prices.withoutIndex(result.facts()));
            }
        }
    }

    void writeAbsent(int figure, Map<String, String> absent) {
        absent.forEach((name, reason) -> {
            out.printf("absent: %s: %s%n", name, reason);
            report.row().put("figure", (long) figure).put("contestant", name).put("absent", reason);
        });
    }

    @Override
    public void close() {
        memories.close();
    }
}
