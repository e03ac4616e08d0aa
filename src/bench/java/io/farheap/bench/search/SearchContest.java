package io.farheap.bench.search;

import io.farheap.bench.report.Quartiles;
import io.farheap.bench.report.Rotation;
import io.farheap.bench.report.Samples;
import io.farheap.bench.report.TurnWarmUp;
import io.farheap.bench.report.Turns;
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
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.stream.Stream;

/**
 * Runs the exact search and Redy's search for the same random objectives, and compares answers and times. The searches
 * take turns, in an order that rotates. One thread at a time.
 */
final class SearchContest {

    /** How many searches take turns. */
    static final int SIDES = 2;

    private static final Comparator<Configuration> COST =
            Comparator.comparingInt(Configuration::serverThreads).thenComparingInt(Configuration::clientThreads);
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    /** Of each turn of the warm-up; Redy's search may take some 100 ms for one. */
    private static final int WARM_UP_OBJECTIVES = 4;

    private final boolean logarithmic;
    private final TimedSearch exact;
    private final TimedSearch paper;
    /** In the order in which the rotation numbers them. */
    private final List<TimedSearch> searches;

    private final Rotation rotation;
    private boolean settled;
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
        this(logarithmic, new ExactSearch(), new PrunedTraversal());
    }

    SearchContest(boolean logarithmic, Search exact, Search paper) {
        this.logarithmic = logarithmic;
        this.exact = new TimedSearch(exact);
        this.paper = new TimedSearch(paper);
        searches = List.of(this.exact, this.paper);
        rotation = new Rotation(searches.size());
    }

    /** Searches with both: by turns, each is the one that finds the model in the processor's caches. */
    void compare(PerformanceModel model, SplittableRandom random) {
        Slo slo = draw(model, random);
        SearchResult[] results = new SearchResult[searches.size()];
        for (int side : rotation.order(objectives)) {
            results[side] = searches.get(side).find(model, slo);
        }
        SearchResult right = results[searches.indexOf(exact)];
        SearchResult paperResult = results[searches.indexOf(paper)];
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

    /**
     * Lets the JVM compile the exact search: Redy's takes nearly all the time of the turns that follow.
     *
     * @param searches each for another objective, which does not count
     */
    void warmUpExact(PerformanceModel model, SplittableRandom random, int searches) {
        for (int i = 0; i < searches; i++) {
            exact.search.find(model, draw(model, random));
        }
    }

    /**
     * Lets the JVM compile the searches: both search for the same few objectives, which do not count, until their times
     * agree.
     *
     * @param warmUp of {@link #SIDES} sides
     */
    void warmUp(PerformanceModel model, SplittableRandom random, TurnWarmUp warmUp) {
        List<Slo> slos = Stream.generate(() -> draw(model, random))
                .limit(WARM_UP_OBJECTIVES)
                .toList();
        List<Turns.Side<RuntimeException>> sides = new ArrayList<>();
        for (TimedSearch each : searches) {
            sides.add(turn -> {
                long start = System.nanoTime();
                slos.forEach(slo -> each.search.find(model, slo));
                return System.nanoTime() - start;
            });
        }
        settled = Turns.take(sides, warmUp, 0, () -> {}).settled();
    }

    /** Lets both search once in a model, so that none is the first that reads it. */
    void touch(PerformanceModel model, SplittableRandom random) {
        Slo slo = draw(model, random);
        searches.forEach(each -> each.search.find(model, slo));
    }

    /** Whether the times of both had settled before they counted. */
    boolean settled() {
        return settled;
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
        private final Samples micros = new Samples();

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
            micros.add(took / 1e3);
            return result;
        }

        /** Returns the median time for an objective in us, and the quartiles. */
        Quartiles micros() {
            return micros.quartiles();
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
