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
    /** How many parts are to be looked at before the first is copied, how many were, and their checksum. */
    private int unchecked;

    private int checked;
    private long checkedSum;

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
        unchecked = 0;
        checked = 0;
        checkedSum = 0;
        firstIncarnation = first;
        order = ofOrder;
        sum = 0;
    }

    /** The checksum of the whole value is taken where it is before a piece is copied. */
    void checkFirst() {
        unchecked = pieces;
    }

    /** Whether no part of the value is to be looked at any more. */
    boolean isChecked() {
        return checked == unchecked;
    }

    /** The number of the part that is to be looked at next. */
    int checked() {
        return checked;
    }

    /** The checksum of the parts that were looked at. */
    long checkedSum() {
        return checkedSum;
    }

    /** The next part was looked at. @param sumWithIt the checksum of all parts so far */
    void check(long sumWithIt) {
        checked++;
        checkedSum = sumWithIt;
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
