package io.farheap.kv.eviction;

import io.farheap.kv.format.ValuePieces;

/**
 * Victims that a session's samples gave beyond what was needed then, for its next evictions: so one READ serves
 * several. The compare-and-swap that evicts one fails unless its slot still names the object that was judged. That says
 * nothing of accesses since, so a find is dropped after a while: when the session has evicted {@link #EVICTIONS} since,
 * or a part of the object's age has passed ({@link #AGE_PARTS}). It is dropped in another era too: no request that is
 * in flight since it was read need keep its word from coming back. One thread; nothing allocates.
 */
final class VictimPool {

    /** More than a sample gives. A power of two. */
    private static final int CAPACITY = 16;

    private static final int EVICTIONS = 16;
    /**
     * An object that was not accessed for so long is not likely to be accessed while as much passes once more, divided
     * by this.
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
     * Adds one; where there is no room the oldest goes.
     *
     * @param inRegion the region's number
     * @param inBucketAt where its bucket begins there
     * @param of the slot in the bucket
     * @param with the word of the slot
     * @param namedBy the experts
     * @param inEra that the process was in before the slot was read
     * @param lastAccess of the object
     * @param now when it was judged
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
        // Where another wrote nonsense it is not kept.
        until[at] = now + Math.max(0, now - lastAccess) / AGE_PARTS;
        untilEviction[at] = evictions + EVICTIONS;
    }

    /**
     * Whether there is one to be had; it is then {@link #first}. Those before it are dropped.
     *
     * @param least units of 64 bytes that it is to have
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

    /** The oldest, until it is {@linkplain #take taken}; by this number its parts are asked for. */
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

    /** The first is used now. */
    void take() {
        removeFirst();
    }

    /** The session has begun to evict one, a find or not. */
    void evicts() {
        evictions++;
    }

    private void removeFirst() {
        first = first + 1 & CAPACITY - 1;
        count--;
    }
}
