package io.farheap.kv;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** Keys of 8 bytes by number. */
final class TestKeys {

    private static final int FINGERPRINT = 7;

    private TestKeys() {}

    /** @param alike whether all are to have one fingerprint */
    static long[] of(int count, boolean alike) {
        long[] keys = new long[count];
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment key = arena.allocate(Long.BYTES, Long.BYTES);
            long next = 0;
            for (int i = 0; i < count; i++) {
                do {
                    keys[i] = next;
                    key.set(JAVA_LONG, 0, next++);
                } while (alike && KeyHash.fingerprint(KeyHash.of(key, 0, Long.BYTES, 0)) != FINGERPRINT);
            }
        }
        return keys;
    }

    static byte[] bytes(long number) {
        return ByteBuffer.allocate(Long.BYTES)
                .order(ByteOrder.nativeOrder())
                .putLong(number)
                .array();
    }
}
