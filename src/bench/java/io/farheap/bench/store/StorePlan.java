package io.farheap.bench.store;

import io.farheap.bench.ycsb.DataSet;
import io.farheap.store.contract.CheckpointKind;
import java.nio.file.Path;

/**
 * The plan of a run of the benchmark.
 *
 * @param appendBytes of each append
 * @param directory on the disk that is measured
 */
record StorePlan(DataSet data, int appendBytes, int rounds, long turnNanos, Path directory) {

    static final int REQUESTS = 256;
    static final long SEGMENT_BYTES = 4 << 20;
    static final int PAGE_BYTES = 256 << 10;

    /** The paper's share of local memory: one part in so many (1 of 6 GB). */
    private static final int LOCAL_PART = 6;

    private static final int LEAST_PAGES = 12;

    /** For what does not fill a page, and for the pages that a log keeps free. */
    private static final int SPARE_PAGES = 32;

    /** Returns the bytes of local memory that hold a sixth of the log. */
    long somewhatLocal() {
        return Math.max(LEAST_PAGES, data.logBytes() / LOCAL_PART / PAGE_BYTES) * PAGE_BYTES;
    }

    /**
     * Returns the bytes of local memory that hold all of the log during all turns. A checkpoint that is a fold-over
     * makes all records read-only, so between two of them each record may be copied to the log's end once.
     */
    long allLocal() {
        long copies = 1L + StoreTurns.MOST_WARM_UPS + StoreTurns.counted(CheckpointKind.values().length, rounds);
        return (copies * data.logBytes() / PAGE_BYTES + SPARE_PAGES) * PAGE_BYTES;
    }
}
