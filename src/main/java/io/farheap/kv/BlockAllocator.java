package io.farheap.kv;

import java.util.Arrays;
import java.util.function.LongConsumer;

/**
 * A session's free blocks, by size class, and the segments that it cuts new ones from. What a session evicts or
 * replaces is its own from then on, with the next incarnation. One thread.
 *
 * <p>Free blocks are used first in, first out: who still reads one that was freed has as long as possible.
 */
final class BlockAllocator {

    /** No block. */
    static final long NONE = 0;

    private static final int FIRST_CAPACITY = 64;
    private static final int FIRST_INCARNATION = 1;

    /** By class: rings of words without a fingerprint, each with the incarnation to be used next. */
    private final long[][] free = new long[SizeClasses.COUNT][];

    private final int[] first = new int[SizeClasses.COUNT];
    private final int[] count = new int[SizeClasses.COUNT];

    /** By class: the place that the next block is cut at, and how many blocks are left there. */
    private final long[] cutAt = new long[SizeClasses.COUNT];

    private final int[] cutsLeft = new int[SizeClasses.COUNT];

    private long held;
    private long wornOut;

    /**
     * Takes a block of a class, or of the next larger ones that have one.
     *
     * @return a word without a fingerprint, or {@link #NONE}
     */
    long take(int sizeClass) {
        long block = takeExact(sizeClass);
        for (int larger = sizeClass + 1; block == NONE && larger < SizeClasses.COUNT; larger++) {
            block = takeFree(larger);
        }
        return block;
    }

    private long takeExact(int sizeClass) {
        long block = takeFree(sizeClass);
        if (block != NONE || cutsLeft[sizeClass] == 0) {
            return block;
        }
        cutsLeft[sizeClass]--;
        int units = SizeClasses.units(sizeClass);
        long place = cutAt[sizeClass];
        cutAt[sizeClass] = place + units;
        return SlotWord.live(place, FIRST_INCARNATION, 0, units);
    }

    private long takeFree(int sizeClass) {
        if (count[sizeClass] == 0) {
            return NONE;
        }
        long[] ring = free[sizeClass];
        long block = ring[first[sizeClass]];
        first[sizeClass] = first[sizeClass] + 1 & ring.length - 1;
        count[sizeClass]--;
        held--;
        return block;
    }

    /** Cuts blocks of a class from a segment, which is the session's alone and was never used. */
    void addSegment(int sizeClass, long place, int bytes) {
        while (cutsLeft[sizeClass] > 0) {
            put(sizeClass, takeCut(sizeClass));
        }
        cutAt[sizeClass] = place;
        cutsLeft[sizeClass] = bytes / BlockFormat.UNIT_BYTES / SizeClasses.units(sizeClass);
    }

    private long takeCut(int sizeClass) {
        int units = SizeClasses.units(sizeClass);
        long place = cutAt[sizeClass];
        cutAt[sizeClass] = place + units;
        cutsLeft[sizeClass]--;
        return SlotWord.live(place, FIRST_INCARNATION, 0, units);
    }

    /**
     * Takes over a block whose word this session's compare-and-swap has taken out of the table.
     *
     * @param word as it was in its slot
     */
    void reclaim(long word) {
        int incarnation = SlotWord.incarnation(word) + 1;
        if (incarnation == SlotWord.INCARNATIONS) {
            // Its words would come back while somebody may hold one.
            wornOut++;
            return;
        }
        giveBack(SlotWord.live(SlotWord.place(word), incarnation, 0, SlotWord.size(word)));
    }

    /** Takes back a block that no slot has named since it was taken. */
    void giveBack(long block) {
        put(SizeClasses.of(SlotWord.size(block)), block);
    }

    private void put(int sizeClass, long block) {
        long[] ring = free[sizeClass];
        if (ring == null) {
            ring = new long[FIRST_CAPACITY];
            free[sizeClass] = ring;
        } else if (count[sizeClass] == ring.length) {
            long[] larger = Arrays.copyOfRange(ring, first[sizeClass], first[sizeClass] + 2 * ring.length);
            System.arraycopy(ring, 0, larger, ring.length - first[sizeClass], first[sizeClass]);
            first[sizeClass] = 0;
            ring = larger;
            free[sizeClass] = ring;
        }
        ring[first[sizeClass] + count[sizeClass] & ring.length - 1] = block;
        count[sizeClass]++;
        held++;
    }

    /** All free blocks, those that are not cut yet too, as words without a fingerprint. */
    void forEachFree(LongConsumer consumer) {
        for (int sizeClass = 0; sizeClass < SizeClasses.COUNT; sizeClass++) {
            long[] ring = free[sizeClass];
            for (int i = 0; i < count[sizeClass]; i++) {
                consumer.accept(ring[first[sizeClass] + i & ring.length - 1]);
            }
            int units = SizeClasses.units(sizeClass);
            for (int i = 0; i < cutsLeft[sizeClass]; i++) {
                consumer.accept(SlotWord.live(cutAt[sizeClass] + (long) i * units, FIRST_INCARNATION, 0, units));
            }
        }
    }

    /** Free blocks, those not cut yet aside. */
    long held() {
        return held;
    }

    /** Blocks that have no incarnation left. */
    long wornOut() {
        return wornOut;
    }
}
