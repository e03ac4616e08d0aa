package io.farheap.kv.leased.server;

import io.farheap.kv.leased.format.ShardTotals;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/** What a shard holds and has done. Its thread counts; any thread reads. */
final class ShardCounts {

    private static final VarHandle COUNTS = MethodHandles.arrayElementVarHandle(long[].class);

    // The places of the words of ShardTotals.
    private static final int SHARDS = 0;
    static final int OBJECTS = 1;
    static final int OBJECT_BYTES = 2;
    static final int MARKED_BYTES = 3;
    private static final int SEGMENT_BYTES = 4;
    private static final int USED_BYTES = 5;
    static final int EVICTED = 6;
    static final int LEASES = 7;
    static final int RENEWED = 8;
    static final int RECLAIMED_LATE = 9;
    static final int DENIED = 10;
    static final int REBUILT = 11;
    static final int REPORTED = 12;
    static final int CAPPED = 13;
    static final int REPORTS = 14;
    static final int WRITTEN = 15;
    static final int OVER = 16;

    private final long[] counts = new long[ShardTotals.WORDS];

    /** @param segmentBytes of all segments of the shard */
    ShardCounts(long segmentBytes) {
        counts[SHARDS] = 1;
        counts[SEGMENT_BYTES] = segmentBytes;
    }

    void add(int what, long much) {
        COUNTS.setOpaque(counts, what, counts[what] + much);
    }

    void set(int what, long much) {
        COUNTS.setOpaque(counts, what, much);
    }

    void setUsedBytes(long bytes) {
        set(USED_BYTES, bytes);
    }

    /** The shard's thread. */
    long of(int what) {
        return counts[what];
    }

    /** Any thread. */
    ShardTotals totals() {
        long[] words = new long[ShardTotals.WORDS];
        for (int i = 0; i < words.length; i++) {
            words[i] = (long) COUNTS.getOpaque(counts, i);
        }
        return ShardTotals.of(words);
    }
}
