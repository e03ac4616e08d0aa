package io.farheap.bench.peers;

import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/** Keys of 8 bytes, whose order as bytes is that of the numbers. */
final class KeyBytes {

    private static final ValueLayout.OfLong BIG_ENDIAN = JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

    private KeyBytes() {}

    static byte[] of(long key) {
        byte[] bytes = new byte[Long.BYTES];
        into(bytes, key);
        return bytes;
    }

    static void into(byte[] bytes, long key) {
        MemorySegment.ofArray(bytes).set(BIG_ENDIAN, 0, key);
    }
}
