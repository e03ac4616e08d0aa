package io.farheap.cache.order;

import io.farheap.cache.contract.Completion;
import io.farheap.cache.contract.Status;

/**
 * Requests for many records whose records have become requests of their own, or groups in batches. The completion of
 * the whole is called when the last part has ended, with the {@linkplain Status#worse worst} of their statuses. One
 * thread at a time; nothing here allocates after construction.
 */
public final class ScatterGather implements Completion {

    private final int[] remaining;
    private final int[] status;
    /** Parts that have failed, and the number of parts of a request that writes; else 0. */
    private final int[] failed;

    private final int[] writes;
    private final long[] token;
    private final Completion[] completion;
    private final int[] free;
    private int freeCount;

    public ScatterGather(int capacity) {
        remaining = new int[capacity];
        status = new int[capacity];
        failed = new int[capacity];
        writes = new int[capacity];
        token = new long[capacity];
        completion = new Completion[capacity];
        free = new int[capacity];
        for (int i = capacity - 1; i >= 0; i--) {
            free[freeCount++] = i;
        }
    }

    /** Whether no further request can {@linkplain #begin begin}. */
    public boolean full() {
        return freeCount == 0;
    }

    /**
     * Begins a request of so many parts, each of which carries this object as its completion.
     *
     * @param write whether it writes: then it was done in part if one part was done, and is {@link Status#UNKNOWN} if
     *     another is {@link Status#UNREACHABLE}
     * @return the token that each carries
     */
    public int begin(int parts, boolean write, Completion whenAll, long wholeToken) {
        int whole = free[--freeCount];
        remaining[whole] = parts;
        status[whole] = Status.OK;
        writes[whole] = write ? parts : 0;
        token[whole] = wholeToken;
        completion[whole] = whenAll;
        return whole;
    }

    /** Whether a part's completion, with its token, is this one or, as that of one of several parts, leads to it. */
    public static boolean leadsTo(Completion last, Completion ofPart, long partToken) {
        return ofPart == last || ofPart instanceof ScatterGather all && all.completion[(int) partToken] == last;
    }

    @Override
    public void completed(long part, int partStatus) {
        completed((int) part, partStatus, 1);
    }

    /**
     * Some parts of a request have ended.
     *
     * @param whole the token that {@link #begin} returned
     * @param partStatus the status of all these parts, or the worst of theirs
     * @param parts how many have ended
     */
    public void completed(int whole, int partStatus, int parts) {
        if (partStatus != Status.OK) {
            failed[whole] = status[whole] == Status.OK ? parts : failed[whole] + parts;
            status[whole] = Status.worse(status[whole], partStatus);
        }
        remaining[whole] -= parts;
        if (remaining[whole] == 0) {
            if (status[whole] == Status.UNREACHABLE && failed[whole] < writes[whole]) {
                status[whole] = Status.UNKNOWN;
            }
            Completion whenAll = completion[whole];
            completion[whole] = null;
            free[freeCount++] = whole;
            whenAll.completed(token[whole], status[whole]);
        }
    }
}
