package io.farheap.kv.format;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import io.farheap.rpc.message.BatchFormat;
import java.lang.foreign.MemorySegment;

/**
 * The 64-bit hash of a block's bytes, by which a reader tells whether it has read all of them. It is fast for long
 * values. It does not resist constructed collisions: keys have {@link KeyHash}.
 */
final class BlockChecksum {

    private static final int LANES_FROM = 128;
    /** Start values of the other lanes, without a pattern, so that lanes with equal words give different hashes. */
    private static final long SECOND = 0x9E3779B97F4A7C15L;

    private static final long THIRD = 0x3C6EF372FE94F82BL;
    private static final long FOURTH = 0xDAA66D2C7DDF743FL;

    private BlockChecksum() {}

    /**
     * @param seed makes the hashes of equal bytes differ
     * @return the hash of {@code bytes} bytes that begin at {@code at}, at any alignment
     */
    static long of(MemorySegment memory, long at, int bytes, long seed) {
        long hash = BatchFormat.mix(BatchFormat.start(), seed, bytes);
        long end = at + bytes;
        long next = at;
        if (bytes >= LANES_FROM) {
            // Four independent chains of multiplications run in parallel, each from its own start value.
            long first = hash;
            long second = hash ^ SECOND;
            long third = hash ^ THIRD;
            long fourth = hash ^ FOURTH;
            for (; next + 64 <= end; next += 64) {
                first = mix(memory, next, first);
                second = mix(memory, next + 16, second);
                third = mix(memory, next + 32, third);
                fourth = mix(memory, next + 48, fourth);
            }
            hash = BatchFormat.mix(BatchFormat.mix(BatchFormat.start(), first, second), third, fourth);
        }
        for (; next + 16 <= end; next += 16) {
            hash = mix(memory, next, hash);
        }
        if (next == end) {
            return hash;
        }
        long first = 0;
        long second = 0;
        if (next + 8 <= end) {
            first = memory.get(JAVA_LONG_UNALIGNED, next);
            next += 8;
            second = rest(memory, next, end);
        } else {
            first = rest(memory, next, end);
        }
        return BatchFormat.mix(hash, first, second);
    }

    private static long mix(MemorySegment memory, long at, long hash) {
        return BatchFormat.mix(hash, memory.get(JAVA_LONG_UNALIGNED, at), memory.get(JAVA_LONG_UNALIGNED, at + 8));
    }

    private static long rest(MemorySegment memory, long from, long end) {
        long word = 0;
        for (long at = end - 1; at >= from; at--) {
            word = word << 8 | memory.get(JAVA_BYTE, at) & 0xFF;
        }
        return word;
    }
}
