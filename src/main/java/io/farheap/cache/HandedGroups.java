package io.farheap.cache;

import java.util.Arrays;

/**
 * Which slots of {@link HandedRequests} are the records of one request for many: a chain that begins with the request's own slot. A slot
 * belongs to the application's thread, and from hand-over to callback to the client thread, which may split a request into its records.
 */
final class HandedGroups {

    private static final int NONE = -1;

    /** Of the request whose slot it is; 1 for an ordinary one. */
    private final int[] records;
    private final int[] next;

    /** The request that a record is of, while it is one by itself. */
    private final int[] whole;
    private final int[] partsLeft;
    private final int[] status;

    HandedGroups(int slots) {
        records = new int[slots];
        next = new int[slots];
        whole = new int[slots];
        partsLeft = new int[slots];
        status = new int[slots];
        Arrays.fill(records, 1);
        Arrays.fill(whole, NONE);
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

    /** The request has been called back. @return how many records it had */
    int end(int slot) {
        int count = records[slot];
        if (count != 1) {
            records[slot] = 1;
        }
        return count;
    }

    /** Makes each record of a request a part that ends by itself. */
    void split(int slot) {
        partsLeft[slot] = records[slot];
        status[slot] = Status.OK;
        for (int i = 0, record = slot; i < records[slot]; i++) {
            whole[record] = slot;
            record = next[record];
        }
    }

    boolean isPart(int slot) {
        return whole[slot] != NONE;
    }

    /** A part has ended. @return the request that it was of */
    int endPart(int slot, int itsStatus) {
        int of = whole[slot];
        whole[slot] = NONE;
        partsLeft[of]--;
        if (itsStatus != Status.OK) {
            status[of] = itsStatus;
        }
        return of;
    }

    /** Whether all parts of a request have ended. */
    boolean ended(int slot) {
        return partsLeft[slot] == 0;
    }

    /** Of a request whose parts have ended: that of one that was not successful, if there was one. */
    int status(int slot) {
        return status[slot];
    }
}
