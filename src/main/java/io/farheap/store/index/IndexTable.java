package io.farheap.store.index;

import io.farheap.memory.PrivateMemory;
import io.farheap.store.format.NativeWords;
import java.lang.foreign.Arena;

/** The buckets of an index, and those that overflow. */
public class IndexTable {

    static final int BUCKET_BYTES = 64;
    public static final int ENTRIES = 7;
    /** Where a bucket's last word is. */
    static final int OVERFLOW = ENTRIES * Long.BYTES;
    /** In the last word of every bucket of a chain that is being divided, or was: nothing is added to it. */
    static final long CLOSED = 1L << 63;
    /** In the last word of a chain's first bucket: its entries are in the next table. */
    static final long DIVIDED = 1L << 62;

    private static final long POINTER = (1L << 48) - 1;
    /** Overflow buckets that are allocated at once. */
    private static final int CHUNK = 256;

    public final long buckets;

    private final PrivateMemory memory;
    /** Of buckets that overflow. */
    private final Arena arena = Arena.ofShared();

    private final long mask;
    private final long base;

    private long spare;
    private int spares;
    private volatile long overflowing;

    /** @param buckets a power of two */
    public IndexTable(long buckets) {
        this.buckets = buckets;
        this.mask = buckets - 1;
        this.memory = PrivateMemory.allocate(buckets * BUCKET_BYTES);
        this.base = memory.segment().address();
    }

    public long bucket(long hash) {
        return base + ((hash & mask) << 6);
    }

    /** The next bucket of a chain, or 0. */
    static long next(long bucket) {
        return NativeWords.getAcquire(bucket + OVERFLOW) & POINTER;
    }

    static boolean divided(long firstBucket) {
        return (NativeWords.getAcquire(firstBucket + OVERFLOW) & DIVIDED) != 0;
    }

    /** Buckets beside those that hashes choose. */
    long overflowing() {
        return overflowing;
    }

    long bytes() {
        return (buckets + overflowing) * BUCKET_BYTES;
    }

    /** Another bucket at the end of a chain, or the one that is there. @return 0 where the chain is closed */
    synchronized long extend(long last) {
        long word = NativeWords.getAcquire(last + OVERFLOW);
        if (word == 0) {
            if (spares == 0) {
                spare = allocate(CHUNK);
                spares = CHUNK;
            }
            if (NativeWords.compareAndSet(last + OVERFLOW, 0, spare)) {
                word = spare;
                spare += BUCKET_BYTES;
                spares--;
                overflowing++;
            } else {
                word = NativeWords.getAcquire(last + OVERFLOW);
            }
        }
        return (word & CLOSED) != 0 ? 0 : word;
    }

    /**
     * Buckets in a row that nobody else gets; where there is no memory nothing has happened, and that is thrown.
     *
     * @return the first one's address; of no meaning where none is asked for
     */
    synchronized long take(int count) {
        if (spares < count) {
            int chunk = Math.max(CHUNK, count);
            spare = allocate(chunk);
            spares = chunk;
        }
        long first = spare;
        spare += (long) count * BUCKET_BYTES;
        spares -= count;
        overflowing += count;
        return first;
    }

    /** The last ones of those that were taken were not needed. */
    synchronized void giveBack(long first, int count) {
        overflowing -= count;
        // Else others have taken some behind them, and they stay unused until the table is freed.
        if (first + (long) count * BUCKET_BYTES == spare) {
            spare = first;
            spares += count;
        }
    }

    /** Of zeros. */
    public long allocate(int moreBuckets) {
        return arena.allocate((long) moreBuckets * BUCKET_BYTES, BUCKET_BYTES).address();
    }

    /** Nobody uses it any more. */
    public void free() {
        memory.close();
        arena.close();
    }
}
