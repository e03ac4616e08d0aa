package io.farheap.resilience.session;

import io.farheap.resilience.table.Slab;

/**
 * A page's worth of a session's own registered memory: k data splits, which together are the page, and r parity splits
 * behind. At most one operation at a time is under way for each split; while any is, the slot serves no other request,
 * also where its own has gone on without them. So a late READ lands where nobody looks, and a late WRITE sends what was
 * to be sent.
 */
final class PageBuffer {

    static final int NOBODY = -1;

    final int index;
    /** In the session's buffer. */
    final long at;
    /** By split: where its latest operation went. */
    final Slab[] slabs;
    /** Splits with an operation whose tag has not come back. */
    int outstanding;
    /** Splits whose operation found the queue full. */
    int unposted;
    /** Outstanding ones that are counted as late. */
    int late;
    /** The number of the operation that waits for its splits, or {@link #NOBODY}. */
    int op = NOBODY;

    PageBuffer(int index, long at, Slab[] slabs) {
        this.index = index;
        this.at = at;
        this.slabs = slabs;
    }
}
