package io.farheap.kv.leased.server;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.kv.format.BlockChecksum;
import io.farheap.kv.format.KeyHash;
import io.farheap.kv.leased.format.LeasedCalls;
import io.farheap.kv.leased.format.ReportRing;
import io.farheap.rpc.HeldRegions;
import io.farheap.rpc.RegionHolders;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** A client may write anything into its ring of reports. */
class WrittenReportsTest {

    private static final long LEASE = 5;
    private static final int REGION = 1 << 16;
    private static final long RING = 4096;
    private static final long BEFORE = 3L << 32;

    private final MemorySegment area = Arena.ofAuto().allocate(2 * REGION, 4096);
    private final RegionHolders holders = new RegionHolders(area, REGION, 2);
    private final HeldRegions held = new HeldRegions(holders, LEASE, "client");
    private final BlockChecksum checksum = new BlockChecksum(new KeyHash(1, 2));
    private final MemorySegment taken = MemorySegment.ofArray(new byte[ReportRing.MOST_BYTES]);
    private final ReportNumbers numbers = new ReportNumbers();
    private final WrittenReports ring = ring(1, RING);

    WrittenReportsTest() {
        held.hold(1);
        ring.begin();
    }

    private WrittenReports ring(int region, long offset) {
        return new WrittenReports(held, numbers, 7, 3, region, offset, BEFORE);
    }

    /** The offset of a report in the memory of both regions. */
    private static long at(long number) {
        return REGION + RING + ReportRing.placeOf(number);
    }

    private void write(long number, int blocks) {
        long at = at(number);
        LeasedCalls.report(area, at + ReportRing.REPORT, 7, 2, blocks);
        for (int i = 0; i < blocks; i++) {
            LeasedCalls.reported(area, at + ReportRing.REPORT, i, 100 + i, 5, number);
        }
        ReportRing.seal(area, at, number, blocks, checksum);
    }

    private long merged() {
        return area.get(JAVA_LONG, REGION + RING);
    }

    private boolean take() {
        return ring.take(taken, checksum);
    }

    @Test
    void reportsAreTakenOnceAndInOrder() {
        assertFalse(take(), "the memory is zero");
        for (int round = 0; round < 5; round++) {
            long first = BEFORE + 1 + round * 3L;
            for (int i = 0; i < 3; i++) {
                write(first + i, 100 - i);
            }
            for (int i = 0; i < 3; i++) {
                assertTrue(take());
                assertEquals(100 - i, LeasedCalls.reported(taken, ReportRing.REPORT));
                assertEquals(first + i, LeasedCalls.reportedIncarnation(taken, ReportRing.REPORT, 99 - i));
                assertEquals(first + i, merged());
            }
            assertFalse(take(), "a report that was merged");
        }
    }

    /** A session that does not wait loses what it writes over. */
    @Test
    void laterReportsTakeThePlaceOfEarlierOnes() {
        for (int i = 1; i <= 3 * ReportRing.REPORTS; i++) {
            write(BEFORE + i, 1);
        }
        assertTrue(take());
        assertEquals(BEFORE + 2 * ReportRing.REPORTS + 1, merged());
        for (int i = 2; i <= ReportRing.REPORTS; i++) {
            assertTrue(take());
        }
        assertFalse(take());
    }

    @Test
    void aReportThatIsNotWholeIsNone() {
        write(BEFORE + 1, 10);
        long last = at(BEFORE + 1) + ReportRing.bytes(10) - 1;
        area.set(JAVA_BYTE, last, (byte) ~area.get(JAVA_BYTE, last));
        assertFalse(take());
        area.set(JAVA_BYTE, last, (byte) ~area.get(JAVA_BYTE, last));
        assertTrue(take());
        // Of an earlier session, and of a place that is not its own.
        write(BEFORE + 2 - ReportRing.REPORTS, 10);
        assertFalse(take());
        write(BEFORE + 2, 10);
        area.set(JAVA_LONG, at(BEFORE + 2), BEFORE + 3);
        assertFalse(take());
        write(BEFORE + 2, 10);
        for (int blocks : new int[] {-1, 9, 11, LeasedCalls.MOST_REPORTED + 1, Integer.MAX_VALUE}) {
            area.set(JAVA_INT_UNALIGNED, at(BEFORE + 2) + ReportRing.REPORT + 8, blocks);
            assertFalse(take(), blocks + " blocks");
        }
        assertEquals(BEFORE + 1, merged());
    }

    /** A full ring is announced again, and a ring by another connection, too: each report counts once. */
    @Test
    void aRingThatIsToldAgainHasThePendingReports() {
        for (int i = 1; i <= ReportRing.REPORTS; i++) {
            write(BEFORE + i, i);
        }
        assertTrue(take());
        WrittenReports again = ring(1, RING);
        again.begin();
        assertFalse(ring.isPresent());
        assertTrue(again.isPresent());
        for (int i = 2; i <= ReportRing.REPORTS; i++) {
            // A thread that knows the earlier ring may look at it once more.
            assertTrue((i == 5 ? ring : again).take(taken, checksum));
            assertEquals(i, LeasedCalls.reported(taken, ReportRing.REPORT));
            assertEquals(BEFORE + i, merged());
        }
        assertFalse(ring.take(taken, checksum) || again.take(taken, checksum));
        numbers.end();
        assertFalse(again.isPresent());
    }

    @Test
    void aRingThatItsClientDoesNotHoldHasNoReports() {
        write(BEFORE + 1, 1);
        for (long offset : new long[] {-8, RING + 1, REGION - ReportRing.BYTES + 8, REGION, Long.MAX_VALUE - 7}) {
            WrittenReports other = ring(1, offset);
            assertFalse(other.isHeld() || other.take(taken, checksum), "offset " + offset);
        }
        for (int region : new int[] {0, -1, 2, Integer.MIN_VALUE}) {
            WrittenReports other = ring(region, RING);
            assertFalse(other.isHeld() || other.take(taken, checksum), "region " + region);
        }
        assertTrue(ring.isHeld());
        holders.clear(1);
        assertFalse(ring.isHeld() || take());
    }

    @Test
    void nonsenseIsNone() {
        SplittableRandom random = new SplittableRandom(1);
        for (int i = 0; i < 20_000; i++) {
            long number = random.nextInt(3) == 0 ? random.nextLong() : BEFORE + 1 + random.nextInt(20);
            long at = at(BEFORE + 1);
            for (int word = 0; word < 10; word++) {
                area.set(JAVA_LONG, at + 8L * word, random.nextInt(3) == 0 ? random.nextInt(200) : random.nextLong());
            }
            area.set(JAVA_LONG, at, number);
            assertFalse(take());
        }
        assertEquals(0, merged());
    }

    /** Also if their checksums are right: numbers that were merged, of another place, or of counts that cannot be. */
    @Test
    void sealedNonsenseIsNone() {
        write(BEFORE + 1, 3);
        assertTrue(take());
        SplittableRandom random = new SplittableRandom(2);
        for (int i = 0; i < 20_000; i++) {
            long at = at(BEFORE + 2);
            long number = random.nextBoolean() ? random.nextLong() : BEFORE + random.nextInt(20);
            int sealed = random.nextInt(LeasedCalls.MOST_REPORTED + 1);
            int blocks = random.nextBoolean() ? sealed : random.nextInt();
            LeasedCalls.report(area, at + ReportRing.REPORT, 7, 2, blocks);
            ReportRing.seal(area, at, number, sealed, checksum);
            boolean next = number > BEFORE + 1 && ReportRing.haveOnePlace(number, BEFORE + 2);
            if (!next || blocks != sealed) {
                assertFalse(take(), number + " with " + blocks + " blocks");
                assertEquals(BEFORE + 1, merged());
            }
        }
        write(BEFORE + 2, 3);
        assertTrue(take());
    }
}
