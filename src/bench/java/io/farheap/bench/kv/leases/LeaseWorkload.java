package io.farheap.bench.kv.leases;

import io.farheap.bench.report.BenchReport;

/**
 * The requests of a play: keys of 23 bytes as in YCSB, got and set in closed loops. A key that is missed is set.
 *
 * @param keys that are asked for
 * @param zipfian whether keys are Zipfian, with the exponent 0.99, or uniform
 * @param getPercent gets among the requests; the others are sets
 * @param valueBytes of each object
 * @param room objects for which the map has about as much memory as they need
 * @param processes that have the map open; each thread makes requests of its processes in turn
 * @param threads that make requests, one at a time each
 */
record LeaseWorkload(
        long keys, boolean zipfian, int getPercent, int valueBytes, long room, int processes, int threads) {

    /** Of a block beside its value, and of what a table and queues have for an object. */
    private static final int OVERHEAD_BYTES = 200;

    private static final long LEAST_BYTES = 1 << 20;

    /** Returns the memory of the map, a power of two. */
    long bytes() {
        long bytes = Math.max(LEAST_BYTES, room * (valueBytes + OVERHEAD_BYTES));
        return Long.highestOneBit(bytes - 1) << 1;
    }

    /** Returns the same with another share of gets. */
    LeaseWorkload gets(int percent) {
        return new LeaseWorkload(keys, zipfian, percent, valueBytes, room, processes, threads);
    }

    /** Whether all keys are set before the first request: there is room for them. */
    boolean isFilled() {
        return room >= keys;
    }

    /** Puts what the requests are. */
    void put(BenchReport.Row row) {
        row.put("keys", zipfian ? "zipfian" : "uniform")
                .put("get_pct", (long) getPercent)
                .put("value_bytes", (long) valueBytes)
                .put("clients", (long) processes)
                .put("threads", (long) threads);
    }
}
