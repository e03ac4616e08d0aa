package io.farheap.kv.leased.server;

import java.util.Arrays;

/**
 * The pieces of a value on its way into a shard, or of an object of the shard: their entries, in order, until an index
 * names their blocks. The shard's thread.
 */
final class ShardPieces {

    private static final int FIRST = 16;

    private int[] taken = new int[FIRST];
    private int count;
    private int pieces;
    private long firstIncarnation;
    private int order;
    private long sum;

    /**
     * Begins without a piece.
     *
     * @param all how many pieces the value has
     * @param first the incarnation of the first
     * @param ofOrder how often the shard has been put in order
     */
    void begin(int all, long first, int ofOrder) {
        pieces = all;
        count = 0;
        firstIncarnation = first;
        order = ofOrder;
        sum = 0;
    }

    /** Has nothing any more. */
    void clear() {
        pieces = 0;
        count = 0;
    }

    boolean isBegun() {
        return pieces > 0;
    }

    /** Whether all pieces are there. */
    boolean isWhole() {
        return pieces > 0 && count == pieces;
    }

    /** Adds the next piece. @param sumWithIt the checksum of the copies of all pieces so far */
    void add(int entry, long sumWithIt) {
        if (count == taken.length) {
            taken = Arrays.copyOf(taken, 2 * count);
        }
        taken[count++] = entry;
        sum = sumWithIt;
    }

    int count() {
        return count;
    }

    int entry(int number) {
        return taken[number];
    }

    long firstIncarnation() {
        return firstIncarnation;
    }

    /** If the shard has been put in order since, it has freed the blocks of all pieces. */
    int order() {
        return order;
    }

    /** The checksum of what was copied. */
    long sum() {
        return sum;
    }
}
