package io.farheap.kv.format;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.farheap.memory.MappedFaults;
import io.farheap.memory.NativeMemory;
import java.lang.foreign.MemorySegment;

/** Keys in local memory: at multiples of 8, padded to 8 bytes with zeros. */
public final class PaddedKeys {

    private static final MemorySegment ALL = NativeMemory.ALL;

    private PaddedKeys() {}

    /**
     * Copies a key and pads it.
     *
     * @throws InternalError if it is in a mapped file that has been cut
     */
    public static void store(MemorySegment key, long from, int bytes, long at) {
        ALL.set(JAVA_LONG, at + (bytes - 1 & ~7), 0);
        MemorySegment.copy(key, from, ALL, at, bytes);
        MappedFaults.raise(key);
    }

    /** Whether a whole block has this key. */
    public static boolean equal(long block, long key, int bytes) {
        if (BlockFormat.keyBytes(ALL, block) != bytes) {
            return false;
        }
        long other = block + BlockFormat.keyAt(BlockFormat.extensionBytes(ALL, block));
        for (int at = 0; at < bytes; at += Long.BYTES) {
            if (ALL.get(JAVA_LONG, other + at) != ALL.get(JAVA_LONG, key + at)) {
                return false;
            }
        }
        return true;
    }

    /**
     * Checks the length of a key.
     *
     * @return {@code bytes}
     * @throws IllegalArgumentException if no key has this length
     */
    public static int check(long bytes) {
        if (bytes < 1 || bytes > BlockFormat.MOST_KEY_BYTES) {
            throw new IllegalArgumentException(
                    "a key of " + bytes + " bytes; keys have 1 to " + BlockFormat.MOST_KEY_BYTES);
        }
        return (int) bytes;
    }
}
