package io.farheap.bench.ycsb;

import io.farheap.command.Plot;
import io.farheap.memory.Plurals;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** Figure 20: far memory of a growing size above files; each resize happens under the load. */
final class ResizedTier {

    static final String RESIZING = "tiered, resizing";

    private static final List<Double> FAR_SHARES = List.of(0.0, 0.25, 0.5, 0.75, 1.0);

    private final YcsbPlan plan;
    private final Contest contest;
    private final StoreContestant store;
    private final TieredStorage storage;
    private final Map<String, TreeMap<Double, Double>> lines = new TreeMap<>();

    ResizedTier(YcsbPlan plan, Contest contest, StoreContestant store, TieredStorage storage) {
        this.plan = plan;
        this.contest = contest;
        this.store = store;
        this.storage = storage;
    }

    Plot run(YcsbFigures figures) {
        for (double share : FAR_SHARES) {
            List<ContestResult> results = new ArrayList<>();
            if (share > 0) {
                results.add(resize(share));
            }
            for (ContestResult result : contest.run(List.of(KeyDistribution.UNIFORM, KeyDistribution.ZIPFIAN))) {
                results.add(result.as(Contest.TIERED));
                Double median = result.comparableRate();
                if (median == null) {
                    continue;
                }
                lines.computeIfAbsent(
                                result.distribution + ", " + Plurals.of(result.threads, "thread"),
                                ignored -> new TreeMap<>())
                        .put(100 * share, median);
            }
            figures.write(20, plan, results);
        }
        Plot plot = Plot.lines(
                "ycsb-20-" + plan.data().valueBytes(),
                "Reads of " + plan.data().valueBytes() + "-byte values, " + Math.round(100 * YcsbFigures.LOCAL_SHARE)
                        + " % local, the rest on files",
                "far memory, % of the log that is not local",
                "operations a second");
        lines.forEach((name, line) ->
                plot.series(name, YcsbFigures.numbers(line.keySet()), YcsbFigures.numbers(line.values())));
        return plot;
    }

    /** Resizes, and measures the load meanwhile. */
    private ContestResult resize(double share) {
        // The share of the log that is not local, and also the local part that was written already, and a segment that
        // begins before it.
        long bytes = Math.round(share * store.notLocalBytes())
                + store.writtenLocalBytes()
                + plan.data().segmentBytes();
        try (ExecutorService executor = Executors.newSingleThreadExecutor()) {
            Future<Long> resizing = executor.submit(() -> storage.resize(bytes));
            ContestResult during =
                    contest.runDuring(Contest.RESIZED, plan.threads().getFirst(), RESIZING, () -> !resizing.isDone());
            resizing.get();
            return during;
        } catch (InterruptedException e) {
            throw new IllegalStateException("interrupted", e);
        } catch (ExecutionException e) {
            throw new IllegalStateException("far memory could not be resized: " + e.getCause(), e);
        }
    }
}
