package io.farheap.kv.eviction;

import io.farheap.kv.format.ValuePieces;

/**
 * Victims that a session's samples gave beyond those needed at once, for its next evictions: one READ serves several
 * evictions. The compare-and-swap that evicts a victim fails unless its slot still names the object that was judged. It
 * does not notice that the object was read since, so a victim is dropped after a while: if the session has evicted
 * {@link #EVICTIONS} objects since, or a fraction of the object's age has passed ({@link #AGE_PARTS}). A victim is also
 * dropped if the process's era has changed: a segment is used again, with words from the first incarnation on, once no
 * request in flight is of an older era, and the pool is no such request, so its word may name another object by then.
 * One thread; nothing allocates.
 */
final class VictimPool {

    /** More than a sample gives; a power of two. */
    private static final int CAPACITY = 16;

    private static final int EVICTIONS = 16;
    /**
     * An object that was not accessed for some time is not likely to be accessed during another 1/{@code AGE_PARTS} of
     * that time.
     */
    private static final long AGE_PARTS = 32;

    private final int[] region = new int[CAPACITY];
    private final long[] bucketAt = new long[CAPACITY];
    private final int[] slot = new int[CAPACITY];
    private final long[] word = new long[CAPACITY];
    private final long[] experts = new long[CAPACITY];
    private final long[] era = new long[CAPACITY];
    private final long[] until = new long[CAPACITY];
    private final long[] untilEviction = new long[CAPACITY];

    private int first;
    private int count;
    private long evictions;

    /**
     * Adds a victim; if the pool is full, the oldest one is dropped.
     *
     * @param inRegion the region's number
     * @param inBucketAt offset of the bucket in the region
     * @param of the slot in the bucket
     * @param with the word of the slot
     * @param namedBy the experts that named it
     * @param inEra the process's era before the slot was read
     * @param lastAccess of the object
     * @param now when the object was judged
     */
    void add(int inRegion, long inBucketAt, int of, long with, long namedBy, long inEra, long lastAccess, long now) {
        if (count == CAPACITY) {
            removeFirst();
        }
        int at = first + count++ & CAPACITY - 1;
        region[at] = inRegion;
        bucketAt[at] = inBucketAt;
        slot[at] = of;
        word[at] = with;
        experts[at] = namedBy;
        era[at] = inEra;
        // A time of access in the future, which another client may have written by mistake, does not keep the victim.
        until[at] = now + Math.max(0, now - lastAccess) / AGE_PARTS;
        untilEviction[at] = evictions + EVICTIONS;
    }

    /**
     * Whether the pool has a victim that may be used; it is then {@link #first}. Drops those before it.
     *
     * @param least units of 64 bytes that the object must have
     */
    boolean any(long inEra, long now, int least) {
        while (count > 0) {
            if (era[first] == inEra
                    && now - until[first] <= 0
                    && evictions < untilEviction[first]
                    && ValuePieces.objectUnits(word[first]) >= least) {
                return true;
            }
            removeFirst();
        }
        return false;
    }

    /** The number of the oldest victim, for the methods below; valid until {@link #take}. */
    int first() {
        return first;
    }

    int region(int find) {
        return region[find];
    }

    long bucketAt(int find) {
        return bucketAt[find];
    }

    int slot(int find) {
        return slot[find];
    }

    long word(int find) {
        return word[find];
    }

    long experts(int find) {
        return experts[find];
    }

    /** Removes the oldest victim, which is used now. */
    void take() {
        removeFirst();
    }

    /** The session begins to evict an object, from the pool or not. */
    void evicts() {
        evictions++;
    }

    private void removeFirst() {
        first = first + 1 & CAPACITY - 1;
        count--;
    }
}
