package io.farheap.procedure.service;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Which lease's call runs next. */
class RunQueueTest {

    private static final long SLICE = 20_000;
    /** What a lease may be ahead, in slices. */
    private static final long CREDIT = RunQueue.CREDIT / SLICE + 1;

    private final RunQueue queue = queue();
    private long worked;

    private static RunQueue queue() {
        return new RunQueue(() -> 0);
    }

    private static LeaseProcedures lease() {
        return new LeaseProcedures("test", () -> 0);
    }

    private RunningCall add(LeaseProcedures lease) {
        RunningCall call = new RunningCall();
        call.lease = lease;
        queue.add(call, lease, worked);
        return call;
    }

    /** Takes the next call, which uses the thread for this time and waits again. */
    private LeaseProcedures slice(long nanos) {
        return slice(queue, nanos);
    }

    /** The same, in passes as a server thread makes them. The threads work for equal times. */
    private LeaseProcedures slice(RunQueue of, long nanos) {
        while (of.yields(worked)) {
            of.passEnds(worked);
        }
        RunningCall next = of.take();
        assertTrue(next != null && next.lease != null);
        LeaseProcedures whose = next.lease;
        whose.used(nanos);
        worked += nanos;
        of.ran(whose, nanos, false, worked);
        of.add(next, whose, worked);
        of.passEnds(worked);
        return whose;
    }

    private void add(RunQueue to, LeaseProcedures lease, int count) {
        for (int i = 0; i < count; i++) {
            RunningCall call = new RunningCall();
            call.lease = lease;
            to.add(call, lease, worked);
        }
    }

    /** Leases that always have calls share the time of all threads, whichever threads their calls come over. */
    @Test
    void leasesShareTheTimeOfAllThreads() {
        RunQueue second = queue();
        LeaseProcedures one = lease();
        LeaseProcedures both = lease();
        LeaseProcedures other = lease();
        add(queue, one, 1);
        add(queue, both, 50);
        add(second, both, 100);
        share(second, one, both, other, 0.5, 0.5, 0);
        // The third comes when the others have run for long.
        add(second, other, 3);
        share(second, one, both, other, 1 / 3.0, 1 / 3.0, 1 / 3.0);
    }

    /** Runs both threads for long, and compares the shares of each 100 ms after the first ones. */
    private void share(
            RunQueue second,
            LeaseProcedures one,
            LeaseProcedures both,
            LeaseProcedures other,
            double ones,
            double boths,
            double others) {
        int slices = 5_000;
        int inFirst = 0;
        for (int window = 0; window < 6; window++) {
            IdentityHashMap<LeaseProcedures, Integer> used = new IdentityHashMap<>();
            for (int i = 0; i < slices; i++) {
                LeaseProcedures next = slice(queue, SLICE);
                inFirst += next == both ? 1 : 0;
                used.merge(next, 1, Integer::sum);
                used.merge(slice(second, SLICE), 1, Integer::sum);
            }
            if (window > 2) {
                assertEquals(ones, used.getOrDefault(one, 0) / (2.0 * slices), ones / 10, "window " + window);
                assertEquals(boths, used.getOrDefault(both, 0) / (2.0 * slices), boths / 10, "window " + window);
                assertEquals(others, used.getOrDefault(other, 0) / (2.0 * slices), others / 10, "window " + window);
            }
        }
        assertTrue(inFirst >= 5, "in 600 ms its calls of the first queue have had " + inFirst + " slices");
    }

    /** What a lease has used on other threads keeps it from this one for a while, and not for as long as that. */
    @Test
    void aLeaseThatHadOtherThreadsForLongWaitsHereForAHundredthOfASecond() {
        LeaseProcedures here = lease();
        LeaseProcedures elsewhere = lease();
        add(here);
        add(elsewhere);
        elsewhere.used(3_600_000_000_000L);
        int before = 0;
        while (slice(SLICE) == here) {
            before++;
        }
        assertTrue(before >= 490 && before <= 501, before + " slices before it");
    }

    /** A lease that uses other threads all the time, as fast as the leases here use this one, has its turn here too. */
    @Test
    void aLeaseThatHasOtherThreadsAllTheTimeHasItsTurn() {
        LeaseProcedures here = lease();
        LeaseProcedures elsewhere = lease();
        add(here);
        add(elsewhere);
        for (int turn = 0; turn < 3; turn++) {
            int before = 0;
            while (slice(SLICE) == here) {
                before++;
                assertTrue(before <= 501, "it waits for more than 10 ms of the other");
                elsewhere.used(3 * SLICE);
            }
        }
    }

    /** What a lease uses elsewhere while no other waits here is not held against it when others come. */
    @Test
    void whatALeaseUsedWhileNoOtherWaitedDoesNotCount() {
        LeaseProcedures old = lease();
        add(old);
        for (int i = 0; i < 100; i++) {
            slice(SLICE);
        }
        RunningCall only = queue.take();
        assertTrue(only != null);
        old.used(1_000_000_000);
        queue.add(only, old, worked);
        slice(SLICE);
        add(lease());
        int olds = 0;
        for (int i = 0; i < 100; i++) {
            olds += slice(SLICE) == old ? 1 : 0;
        }
        assertTrue(Math.abs(olds - 50) <= CREDIT, olds + " slices");
    }

    @Test
    void callsOfALeaseTakeTurns() {
        LeaseProcedures lease = lease();
        assertNull(queue.take());
        RunningCall first = add(lease);
        RunningCall second = add(lease);
        assertEquals(2, queue.size());
        assertSame(first, queue.take());
        queue.add(first, lease, worked);
        assertSame(second, queue.take());
        assertSame(first, queue.take());
        assertNull(queue.take());
        assertEquals(0, queue.size());
    }

    /** Leases get equal shares, however many calls a lease has and however long its slices are. */
    @Test
    void leasesShareTheTime() {
        LeaseProcedures few = lease();
        LeaseProcedures many = lease();
        add(few);
        for (int i = 0; i < 500; i++) {
            add(many);
        }
        long fews = 0;
        long manys = 0;
        for (int i = 0; i < 10_000; i++) {
            long nanos = i % 3 == 0 ? 5 * SLICE : SLICE;
            if (slice(nanos) == few) {
                fews += nanos;
            } else {
                manys += nanos;
            }
            assertTrue(Math.abs(fews - manys) <= 10 * SLICE, fews + " and " + manys);
        }
    }

    /** A lease that had no calls for a while has saved up no time, and a new lease owes none. */
    @Test
    void whoComesBeginsWhereTheOthersAre() {
        LeaseProcedures old = lease();
        add(old);
        for (int i = 0; i < 1000; i++) {
            slice(SLICE);
        }
        LeaseProcedures young = lease();
        add(young);
        int youngs = 0;
        for (int i = 0; i < 100; i++) {
            youngs += slice(SLICE) == young ? 1 : 0;
        }
        assertTrue(Math.abs(youngs - 50) <= CREDIT, youngs + " slices");
        // A lease that had no calls for a while has its share at once, and no more.
        List<RunningCall> olds = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            RunningCall call = queue.take();
            assertTrue(call != null && call.lease != null);
            if (call.lease == old) {
                olds.add(call);
            } else {
                queue.add(call, young, worked);
                young.used(SLICE);
            }
        }
        assertEquals(1, olds.size());
        for (int i = 0; i < 1000; i++) {
            assertSame(young, slice(SLICE));
        }
        queue.add(olds.getFirst(), old, worked);
        int oldSlices = 0;
        for (int i = 0; i < 100; i++) {
            oldSlices += slice(SLICE) == old ? 1 : 0;
        }
        assertTrue(Math.abs(oldSlices - 50) <= CREDIT, oldSlices + " slices");
    }

    /** A short call of a new lease waits for at most one slice of each other lease, whatever calls those have. */
    @Test
    void aNewcomerWaitsForASliceOfEachLease() {
        List<LeaseProcedures> hostile = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            LeaseProcedures lease = lease();
            hostile.add(lease);
            for (int j = 0; j < 1000; j++) {
                add(lease);
            }
        }
        for (int i = 0; i < 777; i++) {
            slice(SLICE);
        }
        for (int round = 0; round < 100; round++) {
            LeaseProcedures quick = lease();
            RunningCall call = add(quick);
            int before = 0;
            RunningCall next = queue.take();
            while (next != call) {
                assertTrue(next != null && next.lease != null);
                before++;
                next.lease.used(SLICE);
                queue.add(next, next.lease, worked);
                next = queue.take();
            }
            assertTrue(before <= hostile.size(), before + " slices before it");
            quick.used(100);
            queue.forget(quick);
        }
        assertEquals(5000, queue.size());
    }

    /** A batch waits until the lease with credit has used it up, and no longer than there is something else to run. */
    @Test
    void aBatchWaitsWhileAnotherLeaseHasCredit() {
        LeaseProcedures spent = lease();
        LeaseProcedures other = lease();
        ran(spent, 2 * RunQueue.CREDIT - 1);
        for (int i = 0; i < RunQueue.CREDIT / SLICE; i++) {
            assertTrue(queue.waits(spent, worked));
            assertFalse(queue.waits(other, worked));
            ran(other, SLICE);
            assertFalse(queue.passEnds(worked), "pass " + i);
        }
        assertTrue(queue.waits(spent, worked));
        assertTrue(queue.waits(other, worked));
        assertTrue(queue.passEnds(worked));
        assertTrue(queue.waits(spent, worked));
        assertFalse(queue.waits(other, worked));
        ran(other, RunQueue.STEP);
        assertFalse(queue.passEnds(worked));
        assertTrue(queue.waits(spent, worked));
        assertTrue(queue.waits(other, worked));
        assertTrue(queue.passEnds(worked));
        assertFalse(queue.waits(other, worked), "it alone has run since");
        assertFalse(queue.waits(spent, worked), "the other has used as much, but for the credit");
    }

    private void ran(LeaseProcedures lease, long nanos) {
        lease.used(nanos);
        worked += nanos;
        queue.ran(lease, nanos, true, worked);
    }

    @Test
    void whatWaitsIsNotForgotten() {
        LeaseProcedures lease = lease();
        RunningCall call = add(lease);
        queue.forget(lease);
        lease.used(SLICE);
        assertSame(call, queue.take());
        queue.forget(lease);
        queue.forget(lease);
        assertSame(call, slice(lease, call));
    }

    private RunningCall slice(LeaseProcedures lease, RunningCall call) {
        queue.add(call, lease, worked);
        RunningCall taken = queue.take();
        assertTrue(taken != null);
        return taken;
    }
}
