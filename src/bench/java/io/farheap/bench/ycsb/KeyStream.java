package io.farheap.bench.ycsb;

import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;

/**
 * The operations of one thread. Ranks and Zipfian keys are drawn before the measurement, since drawing one takes as
 * long as an operation on local memory; a turn begins at a random place in them. Uniform keys are drawn on the way.
 * Streams of different numbers of threads have no keys in common either: if two threads repeated the keys that one
 * thread has just read, caches would look too good. One thread at a time.
 */
final class KeyStream {

    private static final int MOST_DRAWN = 1 << 22;
    private static final int LEAST_DRAWN = 1 << 10;
    private static final int DRAWN_PER_RECORD = 64;
    /** More threads than these share the memory of so many streams. */
    private static final int FULL_STREAMS = 8;

    /** Empty for uniform keys: so many would be repeated, and leave out a third of the records. */
    private final long[] drawn;

    private final boolean uniform;
    private final boolean latest;
    private final long records;
    private final int thread;
    private final int threads;
    private final SplittableRandom random;
    private int at;
    private long inserted;

    /** @param thread number of {@code threads}: each inserts keys of its own */
    KeyStream(KeyDistribution distribution, long records, int thread, int threads) {
        this.records = records;
        this.thread = thread;
        this.threads = threads;
        this.latest = distribution == KeyDistribution.LATEST;
        this.uniform = distribution == KeyDistribution.UNIFORM;
        this.random = new SplittableRandom(seed(distribution, thread, threads));
        if (uniform) {
            drawn = new long[0];
            return;
        }
        long wanted =
                Math.clamp(DRAWN_PER_RECORD * records, LEAST_DRAWN, MOST_DRAWN / Math.max(1, threads / FULL_STREAMS));
        drawn = new long[Integer.highestOneBit((int) wanted)];
        YcsbKeys keys = new YcsbKeys(records, random.nextLong());
        for (int i = 0; i < drawn.length; i++) {
            drawn[i] = latest ? records - 1 - keys.latest() : keys.zipfian();
        }
    }

    /** Returns a stream for each of so many threads. */
    static List<KeyStream> of(KeyDistribution distribution, long records, int threads) {
        return IntStream.range(0, threads)
                .mapToObj(thread -> new KeyStream(distribution, records, thread, threads))
                .toList();
    }

    private static long seed(KeyDistribution distribution, int thread, int threads) {
        return ((long) threads << 32 | thread) * KeyDistribution.values().length + distribution.ordinal();
    }

    /** Continues at a random place. */
    void shuffle() {
        at = uniform ? 0 : random.nextInt(drawn.length);
    }

    void fill(OperationGroup group, YcsbWorkload workload) {
        group.reads = workload.readsOnly();
        for (int i = 0; i < OperationGroup.SIZE; i++) {
            byte kind = group.reads ? OperationGroup.READ : kind(workload);
            group.kinds[i] = kind;
            group.keys[i] = kind == OperationGroup.INSERT ? own(inserted++) : next();
        }
    }

    private byte kind(YcsbWorkload workload) {
        double what = random.nextDouble();
        if (what < workload.updates) {
            return OperationGroup.UPDATE;
        }
        if (what < workload.updates + workload.inserts) {
            return OperationGroup.INSERT;
        }
        return what < workload.updates + workload.inserts + workload.modifications
                ? OperationGroup.MODIFY
                : OperationGroup.READ;
    }

    private long next() {
        if (uniform) {
            // Without the division of nextLong(records).
            return Math.unsignedMultiplyHigh(random.nextLong(), records);
        }
        long value = drawn[at++ & (drawn.length - 1)];
        if (!latest) {
            return value;
        }
        // The thread's own inserted keys, the latest first, then the keys from the beginning.
        return value < inserted ? own(inserted - 1 - value) : records - 1 - (value - inserted);
    }

    /** A key that this thread inserts. */
    private long own(long number) {
        return records + number * threads + thread;
    }
}
