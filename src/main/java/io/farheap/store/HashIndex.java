package io.farheap.store;

import java.lang.foreign.Arena;

/**
 * From a key's hash to the newest record of its chain (FASTER, section 3). Buckets of 64 bytes: seven entries and, in
 * the last word, the address of another bucket of the chain. An entry:
 *
 * <pre>
 * bit 63     tentative: being inserted, not there yet
 * 48 to 62   tag: bits of the hash that did not choose the bucket, never 0
 * 0 to 47    address in the log, or 0 where there is no record yet
 * </pre>
 *
 * Two keys with the same bucket and tag share an entry, and a chain of records. Any thread may call, inside an epoch.
 *
 * <p><b>No tag is in a bucket twice.</b> Who inserts stores a tentative entry into a free place by compare-and-set,
 * then looks for another entry of the tag, tentative or not; where there is one, it takes its own back and begins
 * again, else it clears the bit by a volatile store. Of two that insert at once each has stored before it looks, so at
 * least one sees the other. Both may, and both begin again; each has another place to try, where it waits for nobody.
 */
final class HashIndex implements AutoCloseable {

    static final long ADDRESS = Record.ADDRESS;
    private static final int BUCKET_BYTES = 64;
    private static final int ENTRIES = 7;
    private static final int OVERFLOW = ENTRIES * Long.BYTES;
    private static final long TENTATIVE = 1L << 63;
    private static final int TAG_SHIFT = 48;
    /** Overflow buckets that are allocated at once. */
    private static final int CHUNK = 256;

    private final Arena arena = Arena.ofShared();
    private final long buckets;
    private final long mask;
    private final long base;

    private long spare;
    private int spares;
    private volatile long overflowBuckets;

    /** @param buckets a power of two; of 64 bytes each */
    HashIndex(long buckets) {
        this.buckets = buckets;
        this.mask = buckets - 1;
        this.base = arena.allocate(buckets * BUCKET_BYTES, BUCKET_BYTES).address();
    }

    long bytes() {
        return (buckets + overflowBuckets) * BUCKET_BYTES;
    }

    /** Brings the bucket into the processor's cache. @return of no meaning */
    long touch(long hash) {
        return Words.getOpaque(bucket(hash));
    }

    private long bucket(long hash) {
        return base + ((hash & mask) << 6);
    }

    private static long tag(long hash) {
        long tag = hash >>> 49;
        return tag == 0 ? 1 : tag;
    }

    /** @return the address of the entry, or 0 */
    long find(long hash) {
        long tag = tag(hash);
        long bucket = bucket(hash);
        do {
            for (long place = bucket; place < bucket + OVERFLOW; place += Long.BYTES) {
                if (Words.getAcquire(place) >>> TAG_SHIFT == tag) {
                    return place;
                }
            }
            bucket = Words.getAcquire(bucket + OVERFLOW);
        } while (bucket != 0);
        return 0;
    }

    /** @return the address of the entry, which is new where there was none */
    long findOrInsert(long hash) {
        long found = find(hash);
        while (found == 0) {
            found = insert(hash);
        }
        return found;
    }

    /** @return the address of the entry, or 0 to begin again */
    private long insert(long hash) {
        long tag = tag(hash);
        long first = bucket(hash);
        long free = 0;
        for (long bucket = first; ; ) {
            for (long place = bucket; place < bucket + OVERFLOW; place += Long.BYTES) {
                long word = Words.getAcquire(place);
                if (word >>> TAG_SHIFT == tag) {
                    return place;
                }
                if (word == 0 && free == 0) {
                    free = place;
                }
            }
            long next = Words.getAcquire(bucket + OVERFLOW);
            if (next == 0) {
                if (free == 0) {
                    free = grown(bucket);
                }
                break;
            }
            bucket = next;
        }
        if (!Words.compareAndSet(free, 0, TENTATIVE | tag << TAG_SHIFT)) {
            return 0;
        }
        if (other(first, tag, free)) {
            Words.setRelease(free, 0);
            Thread.onSpinWait();
            return 0;
        }
        Words.setRelease(free, tag << TAG_SHIFT);
        return free;
    }

    /** Whether another entry, tentative or not, has the tag. Behind the compare-and-set of one's own. */
    private static boolean other(long bucket, long tag, long own) {
        do {
            for (long place = bucket; place < bucket + OVERFLOW; place += Long.BYTES) {
                long word = Words.getAcquire(place);
                if (place != own && (word & ~TENTATIVE) >>> TAG_SHIFT == tag) {
                    return true;
                }
            }
            bucket = Words.getAcquire(bucket + OVERFLOW);
        } while (bucket != 0);
        return false;
    }

    /** Another bucket at the end of a chain. @return the address of its first entry */
    private synchronized long grown(long last) {
        long next = Words.getAcquire(last + OVERFLOW);
        if (next == 0) {
            if (spares == 0) {
                spare = arena.allocate((long) CHUNK * BUCKET_BYTES, BUCKET_BYTES)
                        .address();
                spares = CHUNK;
            }
            next = spare;
            spare += BUCKET_BYTES;
            spares--;
            overflowBuckets++;
            Words.setRelease(last + OVERFLOW, next);
        }
        return next;
    }

    /** What an entry points to. */
    static long address(long word) {
        return word & ADDRESS;
    }

    /** An entry that points elsewhere. */
    static long pointing(long word, long address) {
        return word & ~ADDRESS | address;
    }

    /** The store's sessions are closed. */
    @Override
    public void close() {
        arena.close();
    }
}
