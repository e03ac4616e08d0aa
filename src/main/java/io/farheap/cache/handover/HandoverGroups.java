package io.farheap.cache.handover;

import io.farheap.cache.order.ScatterGather;
import java.util.Arrays;

/**
 * Which slots of {@link HandoverPath} are the records of one request for many: a chain that begins with the request's
 * own slot. A slot belongs to the application's thread, and from hand-over to callback to the client thread, which may
 * split a request into its records.
 */
final class HandoverGroups {

    static final int NONE = -1;

    /** Of the request whose slot it is; 1 for an ordinary one. */
    private final int[] records;

    private final int[] next;
    /** What a record's request is in {@link ScatterGather}, while the record is a request by itself. */
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

    /** The slot of the record behind one; anything behind the last. */
    int next(int slot) {
        return next[slot];
    }

    /**
     * The request has been called back.
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

    /** Makes a record a part that ends by itself. */
    void part(int slot, int whole) {
        part[slot] = whole;
    }

    /**
     * A part has ended.
     *
     * @return what its request is in {@link ScatterGather}, or {@link #NONE} for what is no part
     */
    int endPart(int slot) {
        int whole = part[slot];
        if (whole != NONE) {
            part[slot] = NONE;
        }
        return whole;
    }
}
