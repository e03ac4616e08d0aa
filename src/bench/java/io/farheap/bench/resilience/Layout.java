package io.farheap.bench.resilience;

import io.farheap.resilience.contract.Resilience;

/**
 * Where a page is.
 *
 * @param dataSplits k
 * @param paritySplits r; a page is on k + r servers
 * @param additional Δ
 * @param slotBytes of a page on each of them
 */
record Layout(int dataSplits, int paritySplits, int additional, int slotBytes) {

    static Layout of(Resilience resilience) {
        return new Layout(
                resilience.dataSplits(), resilience.paritySplits(), resilience.additional(), resilience.splitBytes());
    }

    /** Of whole pages, each in a slot. */
    static Layout copies(int copies, int slotBytes) {
        return new Layout(1, copies - 1, 0, slotBytes);
    }

    /** k + r. */
    int splits() {
        return dataSplits + paritySplits;
    }
}
