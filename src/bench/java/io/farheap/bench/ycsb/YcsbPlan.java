package io.farheap.bench.ycsb;

import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The plan of a run of the benchmark.
 *
 * @param threads numbers of threads, each measured
 * @param rounds that count, at least
 * @param directory on the disk that is measured
 * @param contestants by name; empty for all
 * @param faster the sources of FASTER in C++, or null
 */
record YcsbPlan(
        DataSet data,
        YcsbWorkload workload,
        List<Integer> threads,
        int rounds,
        long turnNanos,
        Path directory,
        List<String> contestants,
        @Nullable Path faster) {

    private static final long LEAST_RESIZE_TURN_NANOS = 100_000_000;

    YcsbPlan with(DataSet other) {
        return new YcsbPlan(other, workload, threads, rounds, turnNanos, directory, contestants, faster);
    }

    /**
     * Returns the time of a turn while a store is resized. It does not become short with the others: the resize
     * continues between two turns, without a load, for as long as it takes to open the sessions.
     */
    long resizeTurnNanos() {
        return Math.max(LEAST_RESIZE_TURN_NANOS, turnNanos / 4);
    }

    boolean wants(String contestant) {
        return contestants.isEmpty() || contestants.contains(contestant);
    }
}
