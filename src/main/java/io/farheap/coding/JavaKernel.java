package io.farheap.coding;

import java.lang.foreign.MemorySegment;

/**
 * Multiplies by exclusive-ors and doublings of whole words, block by block. A target is a polynomial in 2 whose
 * coefficients are sums of sources, one for each bit of their factors, so Horner's rule takes seven doublings for all
 * sources together. The compiler turns the loops over a block into vector instructions.
 */
final class JavaKernel implements Kernel {

    /** The size of a block: a block of every source fits into the first-level cache. */
    private static final int BLOCK_WORDS = 128;

    private static final int BLOCK_BYTES = BLOCK_WORDS * Long.BYTES;
    private static final MemorySegment ALL = MemorySegment.NULL.reinterpret(Long.MAX_VALUE);

    private final long[][] blocks = new long[ErasureCode.MOST_DATA][BLOCK_WORDS];
    private final MemorySegment[] blockMemory = new MemorySegment[ErasureCode.MOST_DATA];
    private final long[] sum = new long[BLOCK_WORDS];
    private final MemorySegment sumMemory = MemorySegment.ofArray(sum);

    JavaKernel() {
        for (int i = 0; i < blocks.length; i++) {
            blockMemory[i] = MemorySegment.ofArray(blocks[i]);
        }
    }

    @Override
    public void prepare(Transform transform) {}

    @Override
    public void run(Transform transform, long[] sources, long[] targets, int bytes) {
        for (int at = 0; at < bytes; at += BLOCK_BYTES) {
            int length = Math.min(BLOCK_BYTES, bytes - at);
            for (int source = 0; source < transform.sources(); source++) {
                MemorySegment.copy(ALL, sources[source] + at, blockMemory[source], 0, length);
            }
            for (int target = 0; target < transform.targets(); target++) {
                combine(transform.rows[target], transform.sources(), length);
                MemorySegment.copy(sumMemory, 0, ALL, targets[target] + at, length);
            }
        }
    }

    @Override
    public void add(Transform transform, int source, long address, long[] targets, int bytes) {
        for (int at = 0; at < bytes; at += BLOCK_BYTES) {
            int length = Math.min(BLOCK_BYTES, bytes - at);
            for (int target = 0; target < transform.targets(); target++) {
                MemorySegment.copy(ALL, address + at, blockMemory[0], 0, length);
                times(transform.rows[target][source], blocks[0], length);
                MemorySegment.copy(ALL, targets[target] + at, blockMemory[1], 0, length);
                add(sum, blocks[1], length);
                MemorySegment.copy(sumMemory, 0, ALL, targets[target] + at, length);
            }
        }
    }

    /** Sums the blocks times their factors; the content behind the length has no meaning. */
    private void combine(int[] row, int sources, int length) {
        int all = 0;
        for (int source = 0; source < sources; source++) {
            all |= row[source];
        }
        clear(length);
        for (int bit = highest(all); bit >= 0; bit--) {
            if (bit != highest(all)) {
                twice(length);
            }
            for (int source = 0; source < sources; source++) {
                if ((row[source] >>> bit & 1) != 0) {
                    add(sum, blocks[source], length);
                }
            }
        }
    }

    private void times(int factor, long[] block, int length) {
        clear(length);
        for (int bit = highest(factor); bit >= 0; bit--) {
            if (bit != highest(factor)) {
                twice(length);
            }
            if ((factor >>> bit & 1) != 0) {
                add(sum, block, length);
            }
        }
    }

    private static int highest(int bits) {
        return Integer.SIZE - 1 - Integer.numberOfLeadingZeros(bits);
    }

    private static int words(int length) {
        return length + Long.BYTES - 1 >>> 3;
    }

    private void clear(int length) {
        long[] to = sum;
        for (int i = 0; i < words(length); i++) {
            to[i] = 0;
        }
    }

    private void twice(int length) {
        long[] to = sum;
        for (int i = 0; i < words(length); i++) {
            to[i] = GaloisField.twice(to[i]);
        }
    }

    private static void add(long[] to, long[] from, int length) {
        for (int i = 0; i < words(length); i++) {
            to[i] ^= from[i];
        }
    }

    @Override
    public String toString() {
        return "Java";
    }
}
