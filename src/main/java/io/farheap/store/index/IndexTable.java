package io.farheap.store.index;

import io.farheap.memory.PrivateMemory;
import io.farheap.store.format.NativeWords;
import java.lang.foreign.Arena;

/**
 * One table of an index: as many buckets as hashes choose from, and overflow buckets that are linked behind them. The
 * last word of each bucket holds the address of the next bucket of its chain and the flags {@link #CLOSED} and
 * {@link #DIVIDED}; {@link HashIndex} says which thread sets them.
 */
public class IndexTable {

    static final int BUCKET_BYTES = 64;
    public static final int ENTRIES = 7;
    /** Offset in bytes of a bucket's last word. */
    static final int OVERFLOW = ENTRIES * Long.BYTES;
    /**
     * Flag in the last word of every bucket of a chain that is being or was divided: no bucket is added to the chain.
     */
    static final long CLOSED = 1L << 63;
    /** Flag in the last word of a chain's first bucket: the chain's entries are in the next table. */
    static final long DIVIDED = 1L << 62;

    private static final long POINTER = (1L << 48) - 1;
    /** How many overflow buckets are allocated at once. */
    private static final int CHUNK = 256;

    public final long buckets;

    private final PrivateMemory memory;
    /** Owns the overflow buckets. */
    private final Arena arena = Arena.ofShared();

    private final long mask;
    private final long base;

    private long spare;
    private int spares;
    private volatile long overflowing;

    /** @param buckets how many buckets hashes choose from; a power of two */
    public IndexTable(long buckets) {
        this.buckets = buckets;
        this.mask = buckets - 1;
        this.memory = PrivateMemory.allocate(buckets * BUCKET_BYTES);
        this.base = memory.segment().address();
    }

    /** The address of the first bucket of the hash's chain. */
    public long bucket(long hash) {
        return base + ((hash & mask) << 6);
    }

    /** The address of the next bucket of a chain, or 0 at its end. */
    static long next(long bucket) {
        return NativeWords.getAcquire(bucket + OVERFLOW) & POINTER;
    }

    static boolean divided(long firstBucket) {
        return (NativeWords.getAcquire(firstBucket + OVERFLOW) & DIVIDED) != 0;
    }

    /** How many overflow buckets are in use. */
    long overflowing() {
        return overflowing;
    }

    long bytes() {
        return (buckets + overflowing) * BUCKET_BYTES;
    }

    /**
     * Appends a bucket to the end of a chain.
     *
     * @return it, or the one that another thread appended; 0 if the chain is closed
     */
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
     * Takes contiguous overflow buckets. If there is no memory, this throws and has changed nothing.
     *
     * @return the address of the first one; without meaning if {@code count} is 0
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

    /** Returns buckets that were {@linkplain #take taken} and are not needed: the last {@code count} of them. */
    synchronized void giveBack(long first, int count) {
        overflowing -= count;
        // Otherwise another thread has taken buckets behind them: these stay unused until the table is freed.
        if (first + (long) count * BUCKET_BYTES == spare) {
            spare = first;
            spares += count;
        }
    }

    /** Allocates memory for overflow buckets, filled with zeros; tests override this. */
    public long allocate(int moreBuckets) {
        return arena.allocate((long) moreBuckets * BUCKET_BYTES, BUCKET_BYTES).address();
    }

    /** Frees the table's memory. No thread uses it any more. */
    public void free() {
        memory.close();
        arena.close();
    }
}
