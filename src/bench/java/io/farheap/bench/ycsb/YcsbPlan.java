package io.farheap.bench.ycsb;

import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The plan of a run of the benchmark.
 *
 * @param threads numbers of threads, each measured
 * @param rounds that count; one before them does not
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

    YcsbPlan with(DataSet other) {
        return new YcsbPlan(other, workload, threads, rounds, turnNanos, directory, contestants, faster);
    }

    boolean wants(String contestant) {
        return contestants.isEmpty() || contestants.contains(contestant);
    }
}
