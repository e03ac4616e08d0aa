package io.farheap.bench.kv;

/**
 * A point of YCSB's table.
 *
 * @param zipfian whether keys are Zipfian or uniform
 * @param sessions each with one request under way
 */
record YcsbPoint(KvWorkload workload, boolean zipfian, int sessions) {

    /** The distribution of the keys, by name. */
    String keys() {
        return zipfian ? "zipfian" : "uniform";
    }
}
