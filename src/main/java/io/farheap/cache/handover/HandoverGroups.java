package io.farheap.cache.handover;

import io.farheap.cache.order.ScatterGather;
import java.util.Arrays;

/**
 * The slots of {@link HandoverPath} that are the records of one request for many, as a chain that begins with the
 * request's own slot. A slot belongs to the application's thread, except from hand-over until its status returns: then
 * it belongs to the client thread, which may split a request into its records.
 */
final class HandoverGroups {

    static final int NONE = -1;

    /** The number of records of the request in a slot; 1 for an ordinary request. */
    private final int[] records;

    private final int[] next;
    /** The token of a record's request in {@link ScatterGather}, while the record is issued separately. */
    private final int[] part;

    HandoverGroups(int slots) {
        records = new int[slots];
        next = new int[slots];
        part = new int[slots];
        Arrays.fill(records, 1);
        Arrays.fill(part, NONE);
    }

    void begin(int slot, int count) {
        records[slot] = count;
    }

    void link(int slot, int following) {
        next[slot] = following;
    }

    /** How many records the request has. */
    int records(int slot) {
        return records[slot];
    }

    /** The slot of the record after this one; undefined after the last. */
    int next(int slot) {
        return next[slot];
    }

    /**
     * Ends the group of a request that has been called back.
     *
     * @return how many records it had
     */
    int end(int slot) {
        int count = records[slot];
        if (count != 1) {
            records[slot] = 1;
        }
        return count;
    }

    /** Makes a record a part that ends separately. */
    void part(int slot, int whole) {
        part[slot] = whole;
    }

    /**
     * A part has ended.
     *
     * @return the token of its request in {@link ScatterGather}, or {@link #NONE} if the slot is not a part
     */
    int endPart(int slot) {
        int whole = part[slot];
        if (whole != NONE) {
            part[slot] = NONE;
        }
        return whole;
    }
}
