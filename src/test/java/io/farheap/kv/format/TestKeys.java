package io.farheap.kv.format;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.farheap.kv.TestSpace;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;

/** Keys of 8 bytes by number. */
public final class TestKeys {

    /** The hash function of the maps of {@link TestSpace}. */
    public static final KeyHash HASH = new KeyHash(0x0706050403020100L, 0x0F0E0D0C0B0A0908L);

    /** The checksum of the blocks of these maps. */
    public static final BlockChecksum CHECKSUM = new BlockChecksum(HASH);

    private static final int FINGERPRINT = 7;

    private TestKeys() {}

    /** @param alike whether all keys must have one fingerprint */
    public static long[] of(int count, boolean alike) {
        long[] keys = new long[count];
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment key = arena.allocate(Long.BYTES, Long.BYTES);
            long next = 0;
            for (int i = 0; i < count; i++) {
                do {
                    keys[i] = next;
                    key.set(JAVA_LONG, 0, next++);
                } while (alike && KeyHash.fingerprint(HASH.of(key, 0, Long.BYTES)) != FINGERPRINT);
            }
        }
        return keys;
    }

    public static long hash(byte[] key) {
        return hash(HASH, key);
    }

    public static long hash(KeyHash by, byte[] key) {
        MemorySegment padded = MemorySegment.ofArray(Arrays.copyOf(key, BlockFormat.padded(key.length)));
        return by.of(padded, 0, key.length);
    }

    /** The number of a key, or of a value that was made as one. */
    public static long number(byte[] key) {
        return ByteBuffer.wrap(key).order(ByteOrder.nativeOrder()).getLong();
    }

    public static byte[] bytes(long number) {
        return ByteBuffer.allocate(Long.BYTES)
                .order(ByteOrder.nativeOrder())
                .putLong(number)
                .array();
    }
}
