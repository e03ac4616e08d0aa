package io.farheap.migration.region;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.control.RegionGrant;
import io.farheap.remote.contract.RemoteRegion;
import org.junit.jupiter.api.Test;

/** The places to which requests for a region go while it moves, and after it has moved in part. */
class SplitRegionTest {

    private static final long BYTES = 1000;
    private static final boolean READ = false;
    private static final boolean WRITE = true;

    private final RemoteRegion old = region(1);
    private final RemoteRegion fresh = region(2);
    private final RemoteRegion third = region(3);

    private static RemoteRegion region(int id) {
        return new RemoteRegion(null, 0, new RegionGrant(id, 0, 0, 0), 0);
    }

    private static RemoteRegion whole(RegionEntry entry) {
        assertFalse(entry.isSplit());
        return entry.copy();
    }

    private SplitRegion moving() {
        return SplitRegion.whole(old, BYTES).moving(0, fresh, false, false);
    }

    @Test
    void marksDivideNewFromHeldFromOld() {
        SplitRegion region = moving();
        region.held(600);
        region.moved(200);
        for (long offset = 0; offset < BYTES; offset++) {
            assertSame(offset < 200 ? fresh : old, region.copy(READ, offset), "read at " + offset);
            assertSame(
                    offset < 200 ? fresh : offset < 600 ? null : old, region.copy(WRITE, offset), "write at " + offset);
            assertEquals(offset < 200 ? 200 : BYTES, region.end(region.copy(READ, offset), offset), "end at " + offset);
        }
    }

    @Test
    void aRangeHasOneCopyOrNone() {
        SplitRegion region = moving();
        region.held(600);
        region.moved(200);
        assertSame(fresh, region.copy(READ, 100, 100));
        assertNull(region.copy(READ, 100, 101));
        assertSame(old, region.copy(READ, 200, 800));
        assertNull(region.copy(WRITE, 599, 2));
        assertSame(old, region.copy(WRITE, 600, 400));
    }

    @Test
    void whatOverlapsTheWindowIsHeld() {
        SplitRegion region = moving();
        assertFalse(region.holds(WRITE, 0, BYTES));
        region.held(600);
        region.moved(200);
        assertFalse(region.holds(WRITE, 0, 200));
        assertTrue(region.holds(WRITE, 0, 201));
        assertTrue(region.holds(WRITE, 599, 1));
        assertFalse(region.holds(WRITE, 600, 400));
        assertFalse(region.holds(READ, 0, BYTES));
        region.moved(600);
        assertFalse(region.holds(WRITE, 0, BYTES));
    }

    @Test
    void readsWaitWhereTheyAreToldTo() {
        SplitRegion region = SplitRegion.whole(old, BYTES).moving(0, fresh, true, false);
        region.held(600);
        region.moved(200);
        assertSame(fresh, region.copy(READ, 199));
        assertNull(region.copy(READ, 200));
        assertSame(old, region.copy(READ, 600));
        assertTrue(region.holds(READ, 599, 1));
    }

    @Test
    void allOfAPausedRegionWaits() {
        for (boolean readsToo : new boolean[] {false, true}) {
            SplitRegion region = SplitRegion.whole(old, BYTES).paused(readsToo);
            assertNull(region.copy(WRITE, 0));
            assertTrue(region.holds(WRITE, 999, 1));
            assertSame(readsToo ? null : old, region.copy(READ, 999));
            assertEquals(readsToo, region.holds(READ, 0, 1));
            assertSame(old, whole(RegionEntry.settled(region)));
        }
    }

    @Test
    void aRegionThatHasMovedIsWholeAgain() {
        SplitRegion region = moving();
        assertSame(old, whole(RegionEntry.settled(region)));
        region.held(BYTES);
        region.moved(BYTES);
        assertSame(fresh, whole(RegionEntry.settled(region)));
    }

    @Test
    void aRegionThatHasMovedInPartIsUsedWhereItIsAndMovesOn() {
        SplitRegion failed = moving();
        failed.held(600);
        failed.moved(200);
        failed.held(200);
        RegionEntry split = RegionEntry.settled(failed);
        assertTrue(split.isSplit());
        SplitRegion resting = split.split();
        assertEquals(2, resting.extents());
        assertSame(fresh, resting.copy(WRITE, 199));
        assertSame(old, resting.copy(WRITE, 200));
        assertEquals(200, resting.end(fresh, 0));
        assertEquals(BYTES, resting.end(old, 200));
        assertFalse(resting.holds(WRITE, 0, BYTES));

        SplitRegion again = resting.moving(1, fresh, false, false);
        assertSame(old, again.copy(WRITE, 200));
        again.held(500);
        assertNull(again.copy(WRITE, 200));
        assertSame(fresh, again.copy(WRITE, 0));
        assertFalse(again.holds(WRITE, 0, 200));
        again.moved(500);
        assertSame(fresh, again.copy(WRITE, 499));
        assertEquals(500, again.end(fresh, 200));
        assertEquals(
                200,
                again.end(fresh, 0),
                "a request is cut at the end of an extent, also where the next is in the same copy");
        again.moved(BYTES);
        assertSame(fresh, whole(RegionEntry.settled(again)));
    }

    @Test
    void thePartsOfARegionMayGoElsewhere() {
        SplitRegion failed = moving();
        failed.moved(200);
        SplitRegion resting = RegionEntry.settled(failed).split();
        SplitRegion low = resting.moving(0, third, false, false);
        low.held(100);
        low.moved(50);
        assertSame(third, low.copy(READ, 49));
        assertSame(fresh, low.copy(READ, 50));
        assertNull(low.copy(WRITE, 50));
        assertEquals(200, low.end(fresh, 150));
        assertSame(old, low.copy(WRITE, 200));

        SplitRegion three = RegionEntry.settled(low).split();
        assertEquals(3, three.extents());
        assertSame(third, three.copy(READ, 0));
        assertSame(fresh, three.copy(READ, 199));
        assertSame(old, three.copy(READ, 200));
        assertTrue(three.has(fresh));

        low.moved(200);
        SplitRegion two = RegionEntry.settled(low).split();
        assertEquals(2, two.extents());
        assertFalse(two.has(fresh));
    }
}
