package io.farheap.procedure.service;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.procedure.format.CallFormat;
import io.farheap.procedure.translate.running.Translation;
import io.farheap.rpc.HeldRegions;
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
        assertEquals(LeaseProcedures.OWN_CALLS + LeaseProcedures.CALLS_BORROWED, calls);
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

    /** Lends up to an amount, and knows how much is lent. */
    private static final class CountingLender implements HeldRegions.MemoryLender {

        long most;
        long lent;
        int asked;

        CountingLender(long most) {
            this.most = most;
        }

        @Override
        public AutoCloseable lend(long bytes) {
            asked++;
            if (bytes > most - lent) {
                return null;
            }
            lent += bytes;
            return () -> lent -= bytes;
        }
    }

    /** Regions move although calls have borrowed all that there is: a map that is no larger is always taken. */
    @Test
    void aMapIsReplacedThoughNothingIsLeft() {
        CountingLender lender = new CountingLender(LeaseRegionTable.bytes(64));
        LeaseProcedures borrower = new LeaseProcedures("test", () -> now, lender);
        borrower.map(new LeaseRegionTable(1, new int[64], 16), borrower.lendForMap(64));
        for (int version = 2; version < 5; version++) {
            LeaseProcedures.MapLoan loan = borrower.lendForMap(64);
            assertTrue(loan != null, "map " + version);
            borrower.map(new LeaseRegionTable(version, new int[64], 16), loan);
            assertEquals(lender.most, lender.lent);
        }
        assertNull(borrower.lendForMap(65));
        LeaseProcedures.MapLoan first = borrower.lendForMap(64);
        assertNull(borrower.lendForMap(64), "only one next map has the memory of the one before");
        borrower.map(new LeaseRegionTable(5, new int[64], 16), first);
        borrower.end();
        assertEquals(0, lender.lent);
    }

    @Test
    void roomThatNoCallNeedsIsGivenBack() {
        CountingLender lender = new CountingLender(Long.MAX_VALUE);
        LeaseProcedures borrower = new LeaseProcedures("test", () -> now, lender);
        for (int i = 0; i < LeaseProcedures.MOST_CALLS; i++) {
            assertTrue(borrower.mayBegin(0));
            borrower.putOff();
        }
        long most = lender.lent;
        assertTrue(most >= (LeaseProcedures.MOST_CALLS - 1) * LeaseProcedures.CALL_BYTES);
        for (int i = LeaseProcedures.MOST_CALLS; i > 0; i--) {
            assertTrue(lender.lent >= (i - LeaseProcedures.OWN_CALLS) * LeaseProcedures.CALL_BYTES, i + " calls wait");
            borrower.finish();
        }
        assertTrue(lender.lent <= most / 10, "of " + most + " bytes " + lender.lent + " are still lent");
        // A few calls that come and go borrow nothing more.
        int asked = lender.asked;
        for (int i = 0; i < 1000; i++) {
            assertTrue(borrower.mayBegin(LeaseProcedures.CALLS_BORROWED - 1));
            borrower.putOff();
            borrower.finish();
        }
        assertEquals(asked, lender.asked);
    }

    /** A client whose memory is used up by others' calls still has its calls run, one after another. */
    @Test
    void oneCallHasRoomOfItsOwn() {
        CountingLender lender = new CountingLender(0);
        LeaseProcedures borrower = new LeaseProcedures("test", () -> now, lender);
        assertTrue(borrower.mayBegin(0));
        assertFalse(borrower.mayBegin(1));
        borrower.putOff();
        assertFalse(borrower.mayBegin(0));
        assertEquals(1, lender.asked, "it asks a thousand times a second at most");
        now += 1_000_000;
        assertFalse(borrower.mayBegin(0));
        assertEquals(2, lender.asked);
        lender.most = Long.MAX_VALUE;
        assertFalse(borrower.mayBegin(0));
        now += 1_000_000;
        assertTrue(borrower.mayBegin(0));
        borrower.finish();
        assertTrue(borrower.mayBegin(0));
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
