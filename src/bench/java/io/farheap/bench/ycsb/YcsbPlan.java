package io.farheap.bench.ycsb;

import java.nio.file.Path;
import java.util.List;

/**
 * What a run of the benchmark is asked for.
 *
 * @param threads numbers of them, each measured
 * @param rounds that count; one before them does not
 * @param directory on the disk that is measured
 * @param contestants by name; empty for all
 */
record YcsbPlan(
        DataSet data,
        Workload workload,
        List<Integer> threads,
        int rounds,
        long turnNanos,
        Path directory,
        List<String> contestants) {

    YcsbPlan with(DataSet other) {
        return new YcsbPlan(other, workload, threads, rounds, turnNanos, directory, contestants);
    }

    boolean wants(String contestant) {
        return contestants.isEmpty() || contestants.contains(contestant);
    }
}
