package io.farheap.resilience.table;

import io.farheap.resilience.contract.Resilience;
import java.util.List;

/** Slabs without regions, of a range of two. */
final class Slabs {

    private Slabs() {}

    static Slab good(int split) {
        return new Slab(null, 0, split, 0, Slab.GOOD);
    }

    static Slab rebuilding(int split) {
        return new Slab(null, 0, split, 1, Slab.REBUILDING);
    }

    static SlabTable table(Slab first, Slab second) {
        return new SlabTable(Resilience.copies(2), List.of(first, second));
    }
}
