package io.farheap.procedure.service;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.procedure.format.CallFormat;
import io.farheap.procedure.translate.running.Translation;
import org.junit.jupiter.api.Test;

/** The procedures, the map and the calls that a lease may have, and their limits. */
class LeaseProceduresTest {

    private static final long SECOND = 1_000_000_000L;
    private static final Translation TRANSLATION = Procs.translated(Procs.Hops.class);

    // The clock may start at any value, and wraps around in these tests.
    private long now = Long.MAX_VALUE - SECOND / 2;
    private final LeaseProcedures lease = new LeaseProcedures("test", () -> now);

    private static ServedProcedure registered(int id) {
        return new ServedProcedure(id, TRANSLATION);
    }

    private int registrations() {
        int may = 0;
        while (lease.mayRegister()) {
            may++;
        }
        return may;
    }

    @Test
    void tenRegistrationsASecond() {
        assertEquals(10, registrations());
        now += SECOND / 10 - 1;
        assertEquals(0, registrations());
        now += 1_000;
        assertEquals(1, registrations());
        // The clock has wrapped around by now.
        now += SECOND / 2;
        assertEquals(5, registrations());
        now += 3600 * SECOND;
        assertEquals(10, registrations());
    }

    @Test
    void oneIsFoundByItsWholeId() {
        for (int slot = 0; slot < CallFormat.SLOTS; slot++) {
            lease.add(registered(slot));
        }
        for (int slot = 0; slot < CallFormat.SLOTS; slot++) {
            ServedProcedure found = lease.find(slot);
            assertTrue(found != null && found.id == slot);
            assertNull(lease.find(slot + CallFormat.SLOTS));
            assertNull(lease.find(slot - CallFormat.SLOTS));
        }
        // A lease has a fixed number of slots: one more procedure takes the place of another.
        ServedProcedure next = registered(7 + CallFormat.SLOTS);
        lease.add(next);
        assertNull(lease.find(7));
        assertSame(next, lease.find(7 + CallFormat.SLOTS));
        lease.remove(7);
        assertSame(next, lease.find(7 + CallFormat.SLOTS));
        lease.remove(7 + CallFormat.SLOTS);
        lease.remove(7 + CallFormat.SLOTS);
        assertNull(lease.find(7 + CallFormat.SLOTS));
        ServedProcedure negative = registered(-1);
        lease.add(negative);
        assertSame(negative, lease.find(-1));
        assertNull(lease.find(CallFormat.SLOTS - 1));
    }

    @Test
    void soManyCallsAreUnderWay() {
        for (int i = 0; i < LeaseProcedures.MOST_CALLS; i++) {
            assertTrue(lease.mayBegin(0));
            lease.putOff();
        }
        assertFalse(lease.mayBegin(0));
        lease.finish();
        assertTrue(lease.mayBegin(0));
        assertFalse(lease.mayBegin(1), "one that has begun may have to be put off");
        lease.finish();
        assertTrue(lease.mayBegin(1));
    }

    /** Memory of calls that wait, of maps and of classes is borrowed, and all of it is given back. */
    @Test
    void whatItNeedsIsLent() {
        long[] lent = new long[1];
        long[] most = {40 * LeaseProcedures.CALL_BYTES};
        LeaseProcedures borrower = new LeaseProcedures("test", () -> now, bytes -> {
            if (bytes > most[0] - lent[0]) {
                return null;
            }
            lent[0] += bytes;
            return () -> lent[0] -= bytes;
        });
        int calls = 0;
        while (borrower.mayBegin(0)) {
            borrower.putOff();
            calls++;
        }
        assertEquals(LeaseProcedures.CALLS_BORROWED, calls);
        assertEquals(LeaseProcedures.CALLS_BORROWED * LeaseProcedures.CALL_BYTES, lent[0]);
        borrower.finish();
        assertTrue(borrower.mayBegin(0), "the room of a call that has ended is used again");
        long before = lent[0];
        assertNull(borrower.lendForMap(1 << 16));
        most[0] = 4 << 20;
        borrower.map(new LeaseRegionTable(2, new int[1 << 16], 16), borrower.lendForMap(1 << 16));
        assertEquals(before + (8 + 4 << 16), lent[0]);
        borrower.map(new LeaseRegionTable(3, new int[1], 16), borrower.lendForMap(1));
        assertEquals(before + 12, lent[0]);
        borrower.add(new ServedProcedure(1, TRANSLATION, borrower.lendForProcedure()));
        borrower.add(new ServedProcedure(1 + CallFormat.SLOTS, TRANSLATION, borrower.lendForProcedure()));
        assertEquals(before + 12 + LeaseProcedures.PROCEDURE_BYTES, lent[0], "another has taken its slot");
        borrower.remove(1);
        borrower.remove(1 + CallFormat.SLOTS);
        assertEquals(before + 12, lent[0]);
        borrower.add(new ServedProcedure(2, TRANSLATION, borrower.lendForProcedure()));
        borrower.end();
        assertEquals(0, lent[0]);
        assertFalse(borrower.mayBegin(0));
        borrower.add(new ServedProcedure(3, TRANSLATION, borrower.lendForProcedure()));
        borrower.map(new LeaseRegionTable(4, new int[1], 16), borrower.lendForMap(1));
        assertEquals(0, lent[0], "what comes after its end is given back at once");
    }

    @Test
    void nothingIsFoundOnceItHasEnded() {
        lease.add(registered(1));
        lease.map(new LeaseRegionTable(1, new int[] {0}, 16));
        assertFalse(lease.ended());
        lease.end();
        assertTrue(lease.ended());
        assertNull(lease.find(1));
        assertSame(LeaseRegionTable.EMPTY, lease.map());
        // A procedure whose translation finishes only after the lease has ended is not added.
        lease.add(registered(2));
        assertNull(lease.find(2));
    }
}
