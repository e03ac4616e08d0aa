package io.farheap.kv.space;

import io.farheap.kv.contract.KvStatus;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/** The counts of a session. Its thread counts; any thread reads. */
public final class MapSessionCounts {

    private static final VarHandle COUNTS = MethodHandles.arrayElementVarHandle(long[].class);

    /** Gets that read their bucket again, since the block had been reused. */
    public static final int READ_AGAIN = 0;
    /** Compare-and-swaps of requests that found another word. */
    public static final int SWAPS_LOST = 1;
    /** Slots that named blocks which cannot be read, and that were emptied. */
    public static final int UNLINKED = 2;
    /** Claims of other requests that were removed. */
    public static final int CLAIMS_REMOVED = 3;
    /** Objects evicted. */
    public static final int EVICTED = 4;
    /** Objects evicted because their bucket was full. */
    public static final int CROWDED_OUT = 5;
    /** Evictions in which another client was faster. */
    public static final int VICTIMS_LOST = 6;
    /** Gets that found their object by a pointer. */
    public static final int POINTER_HITS = 7;
    /** Gets whose pointer led to no current object, and that looked their key up. */
    public static final int STALE_POINTERS = 8;
    /** Calls of a leased map's servers that requests made, without reports. */
    public static final int CALLS = 9;
    /** Of these, the ones that renewed a lease. */
    public static final int RENEWALS = 10;
    /** From here on, by expert: objects evicted that the expert had named. */
    private static final int EVICTED_BY = 11;

    public static final int EXPERTS = Long.SIZE / 4;
    /** From here on, by expert: misses of objects that it had named. */
    private static final int REGRETS = EVICTED_BY + EXPERTS;
    /** From here on, by kind and status: requests that have ended. */
    private static final int ENDED = REGRETS + EXPERTS;

    private static final int STATUSES = KvStatus.NO_VERSION + 1;
    public static final int SIZE = ENDED + RequestColumns.KINDS * STATUSES;

    private final long[] counts = new long[SIZE];

    public void add(int what) {
        COUNTS.setOpaque(counts, what, counts[what] + 1);
    }

    /** @param experts a bit each */
    public void evictedBy(long experts) {
        addEach(EVICTED_BY, experts);
    }

    /** @param experts a bit each */
    public void regretted(long experts) {
        addEach(REGRETS, experts);
    }

    private void addEach(int first, long experts) {
        for (int expert = 0; expert < EXPERTS; expert++) {
            if ((experts >>> expert & 1) != 0) {
                add(first + expert);
            }
        }
    }

    public void ended(int kind, int status) {
        add(ENDED + kind * STATUSES + status);
    }

    /** Any thread. */
    public long of(int what) {
        return (long) COUNTS.getOpaque(counts, what);
    }

    public static int evictedByExpert(int expert) {
        return EVICTED_BY + expert;
    }

    public static int regretsOfExpert(int expert) {
        return REGRETS + expert;
    }

    public static int endedAs(int kind, int status) {
        return ENDED + kind * STATUSES + status;
    }
}
