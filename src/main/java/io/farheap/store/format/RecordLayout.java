package io.farheap.store.format;

import java.lang.invoke.VarHandle;

/**
 * Where a record has what, in bytes from its beginning; a multiple of 8 long.
 *
 * <pre>
 * COMPACT  0 header   8 key   16 value: 8 bytes each
 * GENERAL  0 header   8 lengths and stamp   16 key, padded to 8   value, padded to 8
 * </pre>
 *
 * The second word of the general one: bits 0 to 15 bytes of the key, 16 to 39 bytes of the value, 40 to 63 a stamp,
 * which is odd while the value is being changed in place, and another one afterwards, so that no reader takes half of
 * one value and half of the next.
 */
public enum RecordLayout {
    COMPACT,
    GENERAL;

    public static final int LEAST_RECORD = 24;
    public static final int LENGTHS = 8;
    static final int VALUE_SHIFT = 16;
    static final int STAMP_SHIFT = 40;
    static final long STAMP_ONE = 1L << STAMP_SHIFT;
    static final long LENGTHS_MASK = STAMP_ONE - 1;

    public static final int MAX_KEY_BYTES = (1 << 16) - 1;
    public static final int MAX_VALUE_BYTES = (1 << 24) - 1;

    public static long padded(long bytes) {
        return bytes + 7 & -8;
    }

    public static long lengths(int keyBytes, int valueBytes) {
        return keyBytes | (long) valueBytes << VALUE_SHIFT;
    }

    public static int keyBytes(long lengths) {
        return (int) lengths & MAX_KEY_BYTES;
    }

    public static int valueBytes(long lengths) {
        return (int) (lengths >>> VALUE_SHIFT) & MAX_VALUE_BYTES;
    }

    public static boolean beingChanged(long lengths) {
        return (lengths & STAMP_ONE) != 0;
    }

    /** Keeps others from changing a value in place, and readers waiting. @return the word, to {@link #unlock} with */
    public static long lock(long record) {
        for (int rounds = 0; ; rounds = SpinWait.wait(rounds)) {
            long lengths = NativeWords.getAcquire(record + LENGTHS);
            if (!beingChanged(lengths) && NativeWords.compareAndSet(record + LENGTHS, lengths, lengths + STAMP_ONE)) {
                VarHandle.storeStoreFence();
                return lengths + STAMP_ONE;
            }
        }
    }

    public static void unlock(long record, long lengths) {
        NativeWords.setRelease(record + LENGTHS, lengths + STAMP_ONE);
    }

    public long recordBytes(int keyBytes, int valueBytes) {
        return this == COMPACT ? 24 : 16 + padded(keyBytes) + padded(valueBytes);
    }

    /** Of a record whose words can be read. */
    public long recordBytes(long record) {
        if (this == COMPACT) {
            return 24;
        }
        long lengths = NativeWords.getOpaque(record + LENGTHS);
        return recordBytes(keyBytes(lengths), valueBytes(lengths));
    }

    /** Bytes of the value of a record that has none. */
    public int leastValue() {
        return this == COMPACT ? Long.BYTES : 0;
    }

    public int keyOffset() {
        return this == COMPACT ? 8 : 16;
    }
}
