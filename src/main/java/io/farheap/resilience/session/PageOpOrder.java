package io.farheap.resilience.session;

import org.jspecify.annotations.Nullable;

/**
 * The order in which a session's operations on one page take effect: the order of issue, unless both are reads. A hash
 * table of the pages, with chains.
 */
final class PageOpOrder {

    private final @Nullable PageOp[] first;
    private final int mask;

    /** @param operations that there may be at most */
    PageOpOrder(int operations) {
        int size = Integer.highestOneBit(operations) * 4;
        this.first = new PageOp[size];
        this.mask = size - 1;
    }

    private int chain(long page) {
        return (int) (page ^ page >>> 16) & mask;
    }

    void add(PageOp op) {
        int chain = chain(op.page);
        PageOp last = first[chain];
        if (last == null) {
            first[chain] = op;
            return;
        }
        while (last.next != null) {
            last = last.next;
        }
        last.next = op;
    }

    void remove(PageOp op) {
        int chain = chain(op.page);
        PageOp before = first[chain];
        if (before == op) {
            first[chain] = op.next;
        } else {
            while (before != null && before.next != op) {
                before = before.next;
            }
            if (before != null) {
                before.next = op.next;
            }
        }
        op.next = null;
    }

    /** Whether an earlier operation has to end first. A write that has completed early delays only writes. */
    boolean waits(PageOp op) {
        for (PageOp earlier = first[chain(op.page)]; earlier != null && earlier != op; earlier = earlier.next) {
            if (earlier.page == op.page && (op.write || earlier.write && !earlier.called)) {
                return true;
            }
        }
        return false;
    }
}
