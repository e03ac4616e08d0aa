package io.farheap.bench.resilience;

import io.farheap.resilience.contract.Resilience;

/**
 * How a page is stored.
 *
 * @param dataSplits k
 * @param paritySplits r; a page is on k + r servers
 * @param additional Δ
 * @param slotBytes bytes of a page on each of them
 */
record PageLayout(int dataSplits, int paritySplits, int additional, int slotBytes) {

    static PageLayout of(Resilience resilience) {
        return new PageLayout(
                resilience.dataSplits(), resilience.paritySplits(), resilience.additional(), resilience.splitBytes());
    }

    /** The layout of copies of whole pages, each in a slot. */
    static PageLayout copies(int copies, int slotBytes) {
        return new PageLayout(1, copies - 1, 0, slotBytes);
    }

    /** k + r. */
    int splits() {
        return dataSplits + paritySplits;
    }
}
