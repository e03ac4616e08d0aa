package io.farheap.bench.kv;

import io.farheap.bench.ycsb.YcsbKeys;
import java.util.SplittableRandom;

/**
 * Draws the requests of a workload for the clients of one thread, which insert keys of their own. One thread at a time.
 */
final class YcsbRequests {

    private static final int THREAD_SHIFT = 40;

    private final KvWorkload workload;
    private final boolean zipfian;
    private final long objects;
    private final long thread;
    private final SplittableRandom random;
    private final YcsbKeys keys;
    private boolean set;
    private long key;

    /**
     * @param zipfian whether keys are Zipfian or uniform; in {@link KvWorkload#D} the latest are the most frequent
     * @param objects that are present at the beginning, with the keys from 0
     * @param thread its number, from 0
     */
    YcsbRequests(KvWorkload workload, boolean zipfian, long objects, int thread) {
        this.workload = workload;
        this.zipfian = zipfian;
        this.objects = objects;
        this.thread = thread;
        random = new SplittableRandom(thread);
        keys = new YcsbKeys(objects, thread);
    }

    /** Draws the next request. */
    void next() {
        double drawn = random.nextDouble();
        set = drawn < workload.updates + workload.inserts;
        if (drawn < workload.updates) {
            key = any();
        } else if (set) {
            key = own(keys.insert());
        } else if (workload.inserts > 0) {
            long latest = keys.latest();
            key = latest < objects ? latest : own(latest);
        } else {
            key = any();
        }
    }

    private long any() {
        return zipfian ? keys.zipfian() : random.nextLong(objects);
    }

    private long own(long number) {
        return thread << THREAD_SHIFT | number;
    }

    /** Whether the request is a set, and not a get. */
    boolean set() {
        return set;
    }

    long key() {
        return key;
    }
}
