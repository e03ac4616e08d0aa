package io.farheap.bench.store;

import io.farheap.bench.ycsb.DataSet;
import java.nio.file.Path;

/**
 * What a run of the benchmark is asked for.
 *
 * @param appendBytes of each append
 * @param directory on the disk that is measured
 */
record StorePlan(DataSet data, int appendBytes, int rounds, long turnNanos, Path directory) {

    static final int REQUESTS = 256;
    static final long SEGMENT_BYTES = 4 << 20;
    static final int PAGE_BYTES = 256 << 10;

    /** The paper's share of local memory: 1 of 6 GB. */
    private static final int LOCAL_PART = 6;

    private static final int LEAST_PAGES = 12;

    /** Of local memory that has a sixth of the log. */
    long somewhatLocal() {
        return Math.max(LEAST_PAGES, data.logBytes() / LOCAL_PART / PAGE_BYTES) * PAGE_BYTES;
    }

    /** Of local memory that has all of the log, and what a load appends to it for a while. */
    long allLocal() {
        return data.logBytes() / PAGE_BYTES * 2 * PAGE_BYTES + 32 * PAGE_BYTES;
    }
}
