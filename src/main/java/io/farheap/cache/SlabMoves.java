package io.farheap.cache;

import io.farheap.migration.MigrationResult;
import java.util.function.Consumer;

/** Tells of slabs that have moved, one after the other. One thread. */
final class SlabMoves {

    private final long slabBytes;
    private final Consumer<MigrationResult> told;
    private long since = System.nanoTime();
    private MigrationResult total = MigrationResult.NONE;

    SlabMoves(long slabBytes, Consumer<MigrationResult> told) {
        this.slabBytes = slabBytes;
        this.told = told;
    }

    /** Another slab has moved. */
    void one() {
        long now = System.nanoTime();
        MigrationResult moved = new MigrationResult(1, slabBytes, now - since, now - since, 0);
        since = now;
        total = total.plus(moved);
        told.accept(moved);
    }

    MigrationResult total() {
        return total;
    }
}
