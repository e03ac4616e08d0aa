package io.farheap.kv.leased.server;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.farheap.kv.format.BlockChecksum;
import io.farheap.kv.leased.format.ReportRing;
import io.farheap.memory.NativeMemory;
import io.farheap.rpc.HeldRegions;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;

/**
 * The ring into which a session writes its reports. One thread looks at it, and for a moment two: when a session is
 * connected again, or another has its number, the thread of the new connection has a ring, mostly of the same memory,
 * and the other one forgets its own at the next look. No report counts twice.
 */
final class WrittenReports {

    private static final VarHandle WORD = JAVA_LONG.varHandle();

    /** The process's regions. */
    final HeldRegions held;

    private final ReportNumbers numbers;
    final long space;
    /** The number that the process gives the session. */
    final int session;

    private final int region;
    private final long offset;
    /** The number before that of the first report. */
    private final long before;
    /** The number of this ring, or 0 until the session writes into it. */
    private long ring;

    /**
     * @param numbers of the process
     * @param region number of a region that the process holds
     * @param offset of the ring in it, a multiple of 8
     * @param before the number before that of the first report
     */
    WrittenReports(
            HeldRegions held, ReportNumbers numbers, long space, int session, int region, long offset, long before) {
        this.held = held;
        this.numbers = numbers;
        this.space = space;
        this.session = session;
        this.region = region;
        this.offset = offset;
        this.before = before;
    }

    /** The address of the ring, or 0 if the process does not hold it. */
    private long address() {
        long base = held.address(region);
        return base == 0 || offset < 0 || (offset & 7) != 0 || offset > held.regionBytes() - ReportRing.BYTES
                ? 0
                : base + offset;
    }

    boolean isHeld() {
        return address() != 0;
    }

    /** The session writes its reports here from now on. */
    void begin() {
        ring = numbers.begin(session, before);
    }

    /** Whether the session, which has not ended, has no other ring since. */
    boolean isPresent() {
        return numbers.isPresent(session, ring);
    }

    /**
     * Takes the next report, if there is one. A report that cannot be is none: its place waits for another one.
     *
     * @param into receives it, {@link ReportRing#MOST_BYTES} of it
     * @return whether there was one
     */
    boolean take(MemorySegment into, BlockChecksum checksum) {
        long address = address();
        if (address == 0) {
            return false;
        }
        long merged = numbers.merged(session);
        long at = address + ReportRing.placeOf(merged + 1);
        long number = (long) WORD.getAcquire(NativeMemory.ALL, at);
        // A session that does not wait has written later reports there.
        if (number <= merged || !ReportRing.haveOnePlace(number, merged + 1)) {
            return false;
        }
        MemorySegment.copy(NativeMemory.ALL, at, into, 0, ReportRing.MOST_BYTES);
        if (!ReportRing.isWhole(into, 0, number, checksum) || !numbers.merge(session, merged, number)) {
            return false;
        }
        long last;
        do {
            // Another thread may have merged later ones: the higher number is written last.
            last = numbers.merged(session);
            WORD.setRelease(NativeMemory.ALL, address, last);
        } while (numbers.merged(session) != last);
        return true;
    }
}
