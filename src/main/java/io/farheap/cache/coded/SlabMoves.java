package io.farheap.cache.coded;

import io.farheap.migration.MigrationResult;
import java.util.function.Consumer;

/** Reports slabs that have moved, one after the other, and adds them up. One thread. */
public final class SlabMoves {

    private final long slabBytes;
    private final Consumer<MigrationResult> told;
    private long since = System.nanoTime();
    private MigrationResult total = MigrationResult.NONE;

    public SlabMoves(long slabBytes, Consumer<MigrationResult> told) {
        this.slabBytes = slabBytes;
        this.told = told;
    }

    /** Reports that another slab has moved. */
    public void one() {
        long now = System.nanoTime();
        MigrationResult moved = new MigrationResult(1, slabBytes, now - since, now - since, 0);
        since = now;
        total = total.plus(moved);
        told.accept(moved);
    }

    public MigrationResult total() {
        return total;
    }
}
