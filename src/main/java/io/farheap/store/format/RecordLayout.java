package io.farheap.store.format;

import java.lang.invoke.VarHandle;

/**
 * Offsets of a record's parts, in bytes from its beginning. A record is a multiple of 8 bytes long.
 *
 * <pre>
 * COMPACT  0 header   8 key   16 value: 8 bytes each
 * GENERAL  0 header   8 lengths and stamp   16 key, padded to 8   value, padded to 8
 * </pre>
 *
 * The second word of a general record has the bytes of the key in bits 0 to 15, those of the value in bits 16 to 39,
 * and a stamp in bits 40 to 63. The stamp is odd while a session changes the value in place, and the next even number
 * afterwards. A reader copies the value between two loads of this word and repeats if they differ, so it never returns
 * half of one value and half of the next.
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

    /**
     * Makes a record's stamp odd: until {@link #unlock}, no other session changes the value in place, and readers wait.
     *
     * @return the word to pass to {@code unlock}
     */
    public static long lock(long record) {
        for (int rounds = 0; ; rounds = SpinWait.wait(rounds)) {
            long lengths = NativeWords.getAcquire(record + LENGTHS);
            if (!beingChanged(lengths) && NativeWords.compareAndSet(record + LENGTHS, lengths, lengths + STAMP_ONE)) {
                VarHandle.storeStoreFence();
                return lengths + STAMP_ONE;
            }
        }
    }

    /** Makes the stamp even again, by a release store, which comes after the stores to the value. */
    public static void unlock(long record, long lengths) {
        NativeWords.setRelease(record + LENGTHS, lengths + STAMP_ONE);
    }

    public long recordBytes(int keyBytes, int valueBytes) {
        return this == COMPACT ? 24 : 16 + padded(keyBytes) + padded(valueBytes);
    }

    /** Bytes of a record that is in memory. */
    public long recordBytes(long record) {
        if (this == COMPACT) {
            return 24;
        }
        long lengths = NativeWords.getOpaque(record + LENGTHS);
        return recordBytes(keyBytes(lengths), valueBytes(lengths));
    }

    /** Bytes of the value in a record without a value, such as a tombstone. */
    public int leastValue() {
        return this == COMPACT ? Long.BYTES : 0;
    }

    public int keyOffset() {
        return this == COMPACT ? 8 : 16;
    }
}
