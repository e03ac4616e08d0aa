package io.farheap.kv.leased.format;

import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import io.farheap.kv.format.BlockChecksum;
import java.lang.foreign.MemorySegment;

/**
 * Reports of READs that a session writes into memory of its process's at a server, instead of sending them. They lie in
 * a ring of {@value #REPORTS}; the server merges them in the order of their numbers, which begin anywhere and have no
 * gaps, and writes back how far it is. The session writes no report before the one that had its place is merged.
 *
 * <pre>
 *  0  u64  number of the last report that was merged; the server's
 * 64       the ring; each report, {@value #STRIDE} bytes from the one before:
 *           0  u64  its number
 *           8  u64  checksum of the rest, seeded with the number
 *          16       the report, as {@link LeasedCalls#REPORT} has it
 * </pre>
 */
public final class ReportRing {

    /** The places of a ring, a power of two. */
    public static final int REPORTS = 8;

    private static final int FIRST = 64;
    private static final int STRIDE = 2048;
    /** The bytes of a ring. */
    public static final int BYTES = FIRST + REPORTS * STRIDE;
    /** The offset of the report behind its number and its checksum. */
    public static final int REPORT = 16;
    /** The most bytes of a report with its number and its checksum. */
    public static final int MOST_BYTES = bytes(LeasedCalls.MOST_REPORTED);

    private static final int NUMBER = 0;
    private static final int CHECKSUM = 8;

    private ReportRing() {}

    /** The offset in the ring of a report. */
    public static int placeOf(long number) {
        return FIRST + (int) (number & REPORTS - 1) * STRIDE;
    }

    /** Whether two reports have one place in the ring. */
    public static boolean haveOnePlace(long number, long other) {
        return placeOf(number) == placeOf(other);
    }

    /** How many bytes a report of so many blocks has with its number and its checksum. */
    public static int bytes(int blocks) {
        return REPORT + LeasedCalls.reportBytes(blocks);
    }

    /** Completes a report that is in its place, {@link #REPORT} bytes behind {@code at}. */
    public static void seal(MemorySegment memory, long at, long number, int blocks, BlockChecksum checksum) {
        memory.set(JAVA_LONG_UNALIGNED, at + NUMBER, number);
        memory.set(JAVA_LONG_UNALIGNED, at + CHECKSUM, checksum(memory, at, number, blocks, checksum));
    }

    private static long checksum(MemorySegment memory, long at, long number, int blocks, BlockChecksum checksum) {
        return checksum.of(memory, at + REPORT, LeasedCalls.reportBytes(blocks), number);
    }

    /** The number of the report at {@code at}. */
    public static long number(MemorySegment memory, long at) {
        return memory.get(JAVA_LONG_UNALIGNED, at + NUMBER);
    }

    /** Whether a copy, of {@link #MOST_BYTES}, is a whole report of a number. */
    public static boolean isWhole(MemorySegment copy, long at, long number, BlockChecksum checksum) {
        int blocks = LeasedCalls.reported(copy, at + REPORT);
        return number(copy, at) == number
                && blocks >= 0
                && blocks <= LeasedCalls.MOST_REPORTED
                && copy.get(JAVA_LONG_UNALIGNED, at + CHECKSUM) == checksum(copy, at, number, blocks, checksum);
    }
}
