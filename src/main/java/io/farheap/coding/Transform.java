package io.farheap.coding;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * A matrix that makes some splits from others: a row for each target, with a factor for each source. Immutable once
 * prepared.
 */
final class Transform {

    /** The bytes that ISA-L's tables take for each factor. */
    private static final int TABLE_BYTES = 32;

    final int[][] rows;
    /** Whether there is one target, which is the exclusive-or of all sources. */
    final boolean sum;
    /** The native library's tables of the factors. */
    final MemorySegment tables;
    /** The tables of {@link VectorKernel}, once it has prepared this. */
    byte @Nullable [] products;

    Transform(int[][] rows, Arena arena) {
        this.rows = rows;
        this.sum = rows.length == 1 && allOnes(rows[0]);
        this.tables = arena.allocate((long) TABLE_BYTES * rows.length * rows[0].length, Long.BYTES);
    }

    private static boolean allOnes(int[] row) {
        for (int factor : row) {
            if (factor != 1) {
                return false;
            }
        }
        return true;
    }

    int sources() {
        return rows[0].length;
    }

    int targets() {
        return rows.length;
    }
}
