package io.farheap.bench.kv.leases;

import io.farheap.bench.report.BenchReport;

/**
 * The requests of a play: keys of 23 bytes as in YCSB, got and set in closed loops. A key that is missed is set, which
 * is part of the get's request.
 *
 * @param keys that are asked for, each of which can be drawn
 * @param skew the exponent of Zipf's law; 0: keys are uniform
 * @param getPercent gets among the requests; the others are sets
 * @param valueBytes of each object
 * @param room objects for which the map has at least as much memory as they need
 * @param processes that have the map open; each thread makes requests of its processes in turn
 * @param threads that make requests, one at a time each
 */
record LeaseWorkload(long keys, double skew, int getPercent, int valueBytes, long room, int processes, int threads) {

    /** The exponent of YCSB. */
    static final double USUAL_SKEW = 0.99;

    /** Of a block beside its value, and of what a table and queues have for an object. */
    private static final int OVERHEAD_BYTES = 200;

    private static final long LEAST_BYTES = 1 << 20;

    /** Requests for each key that warm a map up which evicts, and as many that are counted. */
    private static final int REQUESTS_OF_KEY = 5;
    /** The same if the map holds all keys, and no eviction has to settle. */
    private static final int REQUESTS_IF_FILLED = 3;

    /** Returns the memory of the map: a power of two, since each server has half of it as one region. */
    long bytes() {
        long bytes = Math.max(LEAST_BYTES, room * (valueBytes + OVERHEAD_BYTES));
        return Long.highestOneBit(bytes - 1) << 1;
    }

    /** Returns the same with another share of gets. */
    LeaseWorkload gets(int percent) {
        return new LeaseWorkload(keys, skew, percent, valueBytes, room, processes, threads);
    }

    /** Whether all keys are set before the first request: there is room for them. */
    boolean isFilled() {
        return room >= keys;
    }

    /** Returns for how many objects the table of the map is made: for all keys, however they fall. */
    long objects() {
        return Math.max(keys, room);
    }

    boolean isZipfian() {
        return skew > 0;
    }

    /** Returns how many requests all threads together make before hits count, and as many while they count. */
    long requests() {
        return keys * (isFilled() ? REQUESTS_IF_FILLED : REQUESTS_OF_KEY);
    }

    /** Puts what the requests are. */
    void put(BenchReport.Row row) {
        row.put("keys", isZipfian() ? "zipfian" : "uniform")
                .put("key_count", keys)
                .put("skew", Double.toString(skew))
                .put("get_pct", (long) getPercent)
                .put("value_bytes", (long) valueBytes)
                .put("bytes", bytes())
                .put("clients", (long) processes)
                .put("threads", (long) threads)
                .put("in_flight", (long) threads)
                .put("cores", (long) Runtime.getRuntime().availableProcessors());
    }
}
