package io.farheap.bench.search;

import io.farheap.slo.Configuration;
import io.farheap.slo.ExactSearch;
import io.farheap.slo.Explanation;
import io.farheap.slo.InfeasibleSloException;
import io.farheap.slo.Objective;
import io.farheap.slo.PerformanceModel;
import io.farheap.slo.PrunedTraversal;
import io.farheap.slo.Search;
import io.farheap.slo.SearchResult;
import io.farheap.slo.Slo;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.Comparator;
import java.util.Objects;
import java.util.SplittableRandom;

/**
 * Runs the exact search and Redy's search for the same random objectives, in turns, and compares answers and times. One
 * thread at a time.
 */
final class SearchContest {

    private static final Comparator<Configuration> COST =
            Comparator.comparingInt(Configuration::serverThreads).thenComparingInt(Configuration::clientThreads);
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    private final boolean logarithmic;
    private final TimedSearch exact = new TimedSearch(new ExactSearch());
    private final TimedSearch paper = new TimedSearch(new PrunedTraversal());
    private int objectives;
    private int feasible;
    private int missed;
    private int dearer;
    private int other;
    private long refusals;
    private long refusalNanos;
    private long longestRefusalNanos;

    /**
     * @param logarithmic whether objectives are drawn uniformly in their logarithm, so that tight ones are as frequent
     *     as loose ones
     */
    SearchContest(boolean logarithmic) {
        this.logarithmic = logarithmic;
    }

    /** Searches with both. */
    void compare(PerformanceModel model, SplittableRandom random) {
        Slo slo = draw(model, random);
        SearchResult right = exact.find(model, slo);
        SearchResult paperResult = paper.find(model, slo);
        objectives++;
        if (!right.feasible()) {
            refuse(model, slo);
            return;
        }
        feasible++;
        if (!paperResult.feasible()) {
            missed++;
        } else if (COST.compare(paperResult.found(), right.found()) != 0) {
            dearer++;
        } else if (!Objects.equals(paperResult.found(), right.found())) {
            other++;
        }
    }

    /** Lets the JVM compile the searches, with objectives that do not count. */
    void warmUp(PerformanceModel model, SplittableRandom random, int count) {
        for (int i = 0; i < count; i++) {
            Slo slo = draw(model, random);
            exact.search.find(model, slo);
        }
        paper.search.find(model, draw(model, random));
    }

    private void refuse(PerformanceModel model, Slo slo) {
        long start = THREADS.getCurrentThreadCpuTime();
        try {
            Explanation.of(model, slo);
            throw new IllegalStateException("searches disagree on whether " + slo + " can be met");
        } catch (InfeasibleSloException expected) {
            long nanos = THREADS.getCurrentThreadCpuTime() - start;
            refusals++;
            refusalNanos += nanos;
            longestRefusalNanos = Math.max(longestRefusalNanos, nanos);
        }
    }

    private Slo draw(PerformanceModel model, SplittableRandom random) {
        return new Slo(
                new Objective(draw(model.readLatencyNanos(), random), draw(model.readsPerSecond(), random)),
                new Objective(draw(model.writeLatencyNanos(), random), draw(model.writesPerSecond(), random)));
    }

    private double draw(PerformanceModel.Range range, SplittableRandom random) {
        double share = random.nextDouble();
        return logarithmic
                ? range.low() * Math.pow(range.high() / range.low(), share)
                : range.low() + (range.high() - range.low()) * share;
    }

    TimedSearch exact() {
        return exact;
    }

    TimedSearch paper() {
        return paper;
    }

    int objectives() {
        return objectives;
    }

    int feasible() {
        return feasible;
    }

    /** Feasible objectives for which Redy's search found nothing. */
    int missed() {
        return missed;
    }

    /** Objectives for which Redy's search found more threads than are needed. */
    int dearer() {
        return dearer;
    }

    /** Objectives for which Redy's search found as many threads and another batch size or queue depth. */
    int other() {
        return other;
    }

    /** CPU time of the longest refusal, with the nearest objectives, in us. */
    double longestRefusalMicros() {
        return longestRefusalNanos / 1e3;
    }

    double meanRefusalMicros() {
        return refusals == 0 ? Double.NaN : refusalNanos / 1e3 / refusals;
    }

    /** A search, and how long it took. */
    static final class TimedSearch {

        private final Search search;
        private int count;
        private long nanos;
        private long longest;
        private long longestCpu;
        private long examined;

        TimedSearch(Search search) {
            this.search = search;
        }

        private SearchResult find(PerformanceModel model, Slo slo) {
            long cpu = THREADS.getCurrentThreadCpuTime();
            long start = System.nanoTime();
            SearchResult result = search.find(model, slo);
            long took = System.nanoTime() - start;
            cpu = THREADS.getCurrentThreadCpuTime() - cpu;
            count++;
            nanos += took;
            longest = Math.max(longest, took);
            longestCpu = Math.max(longestCpu, cpu);
            examined += result.examined();
            return result;
        }

        double meanMicros() {
            return nanos / 1e3 / count;
        }

        double longestMicros() {
            return longest / 1e3;
        }

        /** Returns processor time, which the other load of the machine does not affect. */
        double longestCpuMicros() {
            return longestCpu / 1e3;
        }

        /** Configurations whose figures were computed, per search. */
        double examined() {
            return (double) examined / count;
        }
    }
}
