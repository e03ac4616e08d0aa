package io.farheap.resilience.session;

import io.farheap.resilience.table.Slab;

/**
 * A slot: a page's worth of a session's registered memory, with k data splits, which together are the page, and r
 * parity splits behind them. Each split has at most one operation in flight. While any is in flight the slot serves no
 * other operation, even if its own operation has continued without the slot. So a late READ lands in memory that no
 * operation uses, and a late WRITE sends the bytes that it was posted with.
 */
final class PageBuffer {

    static final int NOBODY = -1;

    final int index;
    /** Its offset in the session's buffer. */
    final long at;
    /** By split: the slab to which the latest operation was posted. */
    final Slab[] slabs;
    /** Splits with an operation whose tag has not come back. */
    int outstanding;
    /** Splits whose operation was refused because the queue was full. */
    int unposted;
    /** The outstanding splits that are counted as late. */
    int late;
    /** The number of the operation that waits for its splits, or {@link #NOBODY}. */
    int op = NOBODY;

    PageBuffer(int index, long at, Slab[] slabs) {
        this.index = index;
        this.at = at;
        this.slabs = slabs;
    }
}
