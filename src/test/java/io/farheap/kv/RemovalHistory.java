package io.farheap.kv;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The answers of one key's deletes: each that has removed an object has removed one of its own. So of the deletes whose
 * spans lie in some span of time, all but one need an insertion between two of them, which takes effect within that
 * span. A history without such a span may be wrong nevertheless.
 */
final class RemovalHistory {

    /** How many deletes, from each one on, a span is looked for in. */
    private static final int MOST_IN_A_SPAN = 64;

    private long[] deletesInvoked = new long[16];
    private long[] deletesResponded = new long[16];
    private int deletes;
    private long[] insertionsInvoked = new long[16];
    private long[] insertionsResponded = new long[16];
    private int insertions;

    /**
     * A request that may have inserted the key.
     *
     * @param responded when it was called back, or {@link Long#MAX_VALUE} if it was not
     */
    void inserted(long invoked, long responded) {
        if (insertions == insertionsInvoked.length) {
            insertionsInvoked = Arrays.copyOf(insertionsInvoked, 2 * insertions);
            insertionsResponded = Arrays.copyOf(insertionsResponded, 2 * insertions);
        }
        insertionsInvoked[insertions] = invoked;
        insertionsResponded[insertions++] = responded;
    }

    /** A delete that says that it has removed an object. */
    void removed(long invoked, long responded) {
        if (deletes == deletesInvoked.length) {
            deletesInvoked = Arrays.copyOf(deletesInvoked, 2 * deletes);
            deletesResponded = Arrays.copyOf(deletesResponded, 2 * deletes);
        }
        deletesInvoked[deletes] = invoked;
        deletesResponded[deletes++] = responded;
    }

    /** @return a description of the violation, or null if there is none */
    @Nullable
    String violation() {
        long[][] removals = new long[deletes][];
        for (int i = 0; i < deletes; i++) {
            removals[i] = new long[] {deletesInvoked[i], deletesResponded[i]};
        }
        Arrays.sort(removals, (a, b) -> Long.compare(a[0], b[0]));
        long[] begins = Arrays.copyOf(insertionsInvoked, insertions);
        long[] ends = Arrays.copyOf(insertionsResponded, insertions);
        Arrays.sort(begins);
        Arrays.sort(ends);
        for (int first = 0; first < deletes; first++) {
            long from = removals[first][0];
            long[] until = new long[Math.min(MOST_IN_A_SPAN, deletes - first)];
            for (int i = 0; i < until.length; i++) {
                until[i] = removals[first + i][1];
            }
            Arrays.sort(until);
            for (int i = 1; i < until.length; i++) {
                long between = countBelow(begins, until[i] + 1) - countBelow(ends, from);
                if (i > between) {
                    return i + 1 + " deletes between " + from + " and " + until[i]
                            + " have removed an object each, but " + between
                            + " insertions may have come between them";
                }
            }
        }
        return null;
    }

    private static long countBelow(long[] sorted, long limit) {
        int low = 0;
        int high = sorted.length;
        while (low < high) {
            int middle = low + high >>> 1;
            if (sorted[middle] < limit) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low;
    }
}
