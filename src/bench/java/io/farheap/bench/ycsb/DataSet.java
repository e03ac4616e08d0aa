package io.farheap.bench.ycsb;

import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import java.lang.foreign.MemorySegment;

/**
 * What every contestant holds: keys of 8 bytes, 0 to {@code records} - 1, each with a value that follows from its key,
 * so that whoever reads can check it. Inserted keys go on from there.
 *
 * @param valueBytes a multiple of 8
 */
public record DataSet(long records, int valueBytes) {

    private static final long LEAST_SEGMENT = 64 << 10;
    private static final long MOST_SEGMENT = 64 << 20;
    /** So that far memory can have any share of a log, nearly. */
    private static final int SEGMENTS = 64;

    /** Of a record in a log: header, key, value; the larger ones have their lengths too. */
    public int recordBytes() {
        return valueBytes == Long.BYTES ? 24 : 16 + Long.BYTES + valueBytes;
    }

    /** Bytes of a log that has every record once. */
    public long logBytes() {
        return records * recordBytes();
    }

    /** Of a device that has the log: a power of two, which a page fits into. */
    long segmentBytes() {
        return Math.clamp(Long.highestOneBit(logBytes() / SEGMENTS), LEAST_SEGMENT, MOST_SEGMENT);
    }

    /** Bytes of keys and values alone. */
    public long bytes() {
        return records * (Long.BYTES + valueBytes);
    }

    /** The first 8 bytes of a value, and its last. */
    public static long word(long key) {
        return key * 0x9E3779B97F4A7C15L + 1;
    }

    /** Makes a key's value. */
    public void fill(MemorySegment into, long offset, long key) {
        long word = word(key);
        for (int at = 0; at < valueBytes; at += Long.BYTES) {
            into.set(JAVA_LONG_UNALIGNED, offset + at, word);
        }
    }

    /** Whether this is a key's value, by its first and its last 8 bytes. */
    public boolean matches(MemorySegment value, long offset, long key) {
        long word = word(key);
        return value.get(JAVA_LONG_UNALIGNED, offset) == word
                && value.get(JAVA_LONG_UNALIGNED, offset + valueBytes - Long.BYTES) == word;
    }
}
