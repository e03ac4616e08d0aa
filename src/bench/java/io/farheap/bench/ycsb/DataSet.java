package io.farheap.bench.ycsb;

import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import java.lang.foreign.MemorySegment;

/**
 * The records of every contestant: keys of 8 bytes, 0 to {@code records} - 1, each with a value that is derived from
 * its key, so that a reader can check it. Inserted keys continue from there.
 *
 * @param valueBytes a multiple of 8
 */
public record DataSet(long records, int valueBytes) {

    private static final long LEAST_SEGMENT = 64 << 10;
    private static final long MOST_SEGMENT = 64 << 20;
    /** Many, so that far memory can have nearly any share of a log. */
    private static final int SEGMENTS = 64;

    /** Returns the bytes of a record in a log: header, key, value; larger records also have their lengths. */
    public int recordBytes() {
        return valueBytes == Long.BYTES ? 24 : 16 + Long.BYTES + valueBytes;
    }

    /** Returns the bytes of a log that has every record once. */
    public long logBytes() {
        return records * recordBytes();
    }

    /** Returns the segment size of a device for the log: a power of two, into which a page fits. */
    long segmentBytes() {
        return Math.clamp(Long.highestOneBit(logBytes() / SEGMENTS), LEAST_SEGMENT, MOST_SEGMENT);
    }

    /** Returns the bytes of keys and values alone. */
    public long bytes() {
        return records * (Long.BYTES + valueBytes);
    }

    /** Returns the first 8 bytes of a value, which are also its last. */
    public static long word(long key) {
        return key * 0x9E3779B97F4A7C15L + 1;
    }

    /** Writes a key's value. */
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
