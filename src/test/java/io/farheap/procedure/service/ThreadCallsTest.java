package io.farheap.procedure.service;

import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.procedure.Call;
import io.farheap.procedure.CallStatus;
import io.farheap.procedure.format.CallFormat;
import io.farheap.rpc.HeldRegions;
import io.farheap.rpc.RegionHolders;
import io.farheap.rpc.RinglessCall;
import io.farheap.rpc.RpcHandler;
import io.farheap.server.contract.CallInterleaving;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What a thread charges leases for the calls that it runs. */
class ThreadCallsTest {

    private static final int SHORT = 1;
    private static final int SHIFT = 16;

    /** Has no loop, and so is never put off. */
    static final class Sum {
        public static int run(Call call) {
            call.result(0, call.argument(0) + call.argument(8));
            return 0;
        }
    }

    private long now;
    private long processor;
    /** How far a reading moves the clock. */
    private long tick = 1_000;

    private final MemorySegment memory = Arena.ofAuto().allocate(1 << SHIFT, 4096);
    private final RegionHolders holders = new RegionHolders(memory, 1 << SHIFT, 1);
    private final HeldRegions manys = new HeldRegions(holders, 1, "many");
    private final HeldRegions fews = new HeldRegions(holders, 2, "few");
    private final HeldRegions thirds = new HeldRegions(holders, 3, "third");
    private final LeaseProcedures many = new LeaseProcedures("many", () -> 0);
    private final LeaseProcedures few = new LeaseProcedures("few", () -> 0);
    private final LeaseProcedures third = new LeaseProcedures("third", () -> 0);
    private final MemorySegment message = Arena.ofAuto().allocate(CallFormat.CALL_BYTES + 16, Long.BYTES);
    private final MemorySegment answer = Arena.ofAuto().allocate(64, Long.BYTES);

    private final ThreadCalls thread = new ThreadCalls(
            0,
            Map.of(1L, many, 2L, few, 3L, third),
            CallInterleaving.OFF,
            new CallContextPool(),
            new ThreadCalls.ServerThreadGroup() {
                @Override
                public RunningCall steal(ThreadCalls thief) {
                    return null;
                }

                @Override
                public void help(ThreadCalls busy) {}

                @Override
                public UnderWaySlices underWay(ThreadCalls own) {
                    throw new AssertionError("no map is replaced");
                }
            },
            () -> {},
            new RunningTime(this::tick, () -> processor));

    private long tick() {
        now += tick;
        processor += tick;
        return now;
    }

    @BeforeEach
    void serve() {
        ServedProcedure sum = new ServedProcedure(SHORT, Procs.translated(Sum.class));
        many.add(sum);
        few.add(sum);
        third.add(sum);
        message.set(JAVA_INT_UNALIGNED, 0, SHORT);
        message.set(JAVA_INT_UNALIGNED, 4, 8);
        message.set(JAVA_LONG_UNALIGNED, CallFormat.CALL_BYTES, 3);
    }

    private void call(HeldRegions lease) {
        assertTrue(RinglessCall.execute(thread.handler(false), lease, message, answer) > 0, "it was put off");
        assertEquals(CallStatus.DONE, answer.get(JAVA_INT_UNALIGNED, 0));
    }

    /** Each is charged for its own calls, in whatever order they come, although only some of all are timed. */
    @Test
    void aLeasePaysForItsOwnCallsAlone() {
        int rounds = 1_000;
        for (int i = 0; i < rounds; i++) {
            for (int j = 0; j < 31; j++) {
                call(manys);
            }
            call(fews);
            thread.run(true);
        }
        double share = (double) few.used() / (few.used() + many.used());
        assertTrue(share > 1 / 40.0 && share < 1 / 25.0, "of 32 calls one is charged for " + share + " of the time");
    }

    /** Its calls end in their first slices by their fuel: the clock alone says that they take longer. */
    @Test
    void callsBehindTheTimeOfABatchArePutOff() {
        tick = 10_000;
        int[] lengths = RinglessCall.execute(thread.handler(false), manys, message, answer, 32);
        int first = 0;
        while (lengths[first] != RpcHandler.LATER) {
            first++;
        }
        // The clock is looked at before each eighth call. If one of the first eight is timed, it is read more often.
        assertTrue(first == 8 || first == 16, "call " + first);
        for (int i = first; i < lengths.length; i++) {
            assertEquals(RpcHandler.LATER, lengths[i], "call " + i);
        }
        assertEquals(lengths.length - first, thread.counters().get(CallCounters.PUT_OFF));
    }

    /** The first run of a procedure may take the JVM a hundred times as long as the next: its lease pays for that. */
    @Test
    void aLeasePaysForWhatTheJvmDoesForItsCalls() {
        long first = used(5_000_000, 5_000_000);
        assertTrue(first >= 5_000_000 && first < 5_100_000, first + " ns");
        long counted = thread.counters().get(CallCounters.JVM_NANOS);
        assertTrue(counted > 4_900_000 && counted <= first, counted + " ns");
        // This time another thread had the core.
        long second = used(5_000_000, 30_000);
        assertTrue(second >= 30_000 && second < 100_000, second + " ns");
        assertTrue(thread.counters().get(CallCounters.JVM_NANOS) < counted + 100_000);
    }

    /** A lease that has procedures, and whose batches are of other requests, is never charged for any. */
    @Test
    void aBatchWaitsForLeasesWhoseCallsRun() {
        for (int i = 0; i < 100; i++) {
            assertFalse(thread.waits(fews));
            assertFalse(thread.waits(manys), "pass " + i);
            used(100_000, 100_000);
            thread.run(true);
            thread.passEnds();
        }
        int waited = 0;
        for (int i = 0; i < 30; i++) {
            assertFalse(thread.waits(fews));
            call(fews);
            if (thread.waits(manys)) {
                assertTrue(thread.waits(manys), "its second ring in the same pass");
                waited++;
            } else {
                used(100_000, 100_000);
            }
            thread.run(true);
            thread.passEnds();
        }
        assertTrue(waited > 10, waited + " passes");
    }

    /** A call that has been put off waits likewise. */
    @Test
    void aCallWaitsForLeasesWhoseCallsRun() {
        RunningCall call = new RunningCall();
        call.lease = many;
        thread.queue().add(call, many, 0);
        used(200_000, 200_000);
        for (int i = 0; i < 5; i++) {
            call(fews);
            assertTrue(thread.run(true));
            assertEquals(1, thread.queue().size(), "calls that wait");
            assertFalse(thread.passEnds());
        }
    }

    /** Each has a batch whenever the thread looks, of a length of its own. */
    @Test
    void leasesShareTheTimeOfTheirBatches() {
        HeldRegions[] clients = {manys, fews, thirds};
        LeaseProcedures[] leases = {many, few, third};
        long[] nanos = {40_000, 2_000, 7_000};
        for (int pass = 0; pass < 20_000; pass++) {
            boolean busy = false;
            for (int i = 0; i < clients.length; i++) {
                if (!thread.waits(clients[i])) {
                    busy = true;
                    thread.enter(leases[i]);
                    now += nanos[i];
                    processor += nanos[i];
                    thread.charge();
                }
            }
            thread.run(busy);
            thread.passEnds();
        }
        double all = many.used() + few.used() + third.used();
        for (LeaseProcedures lease : leases) {
            assertEquals(1 / 3.0, lease.used() / all, 0.03, lease.client());
        }
    }

    /** What a lease has used while it was alone here is not held against it when another comes. */
    @Test
    void aLeaseThatWasAloneHasItsShareWhenAnotherComes() {
        used(few, fews, 1_000);
        for (int i = 0; i < 1_000; i++) {
            if (!thread.waits(manys)) {
                used(40_000, 40_000);
            }
            thread.passEnds();
        }
        int waited = 0;
        for (int pass = 0; pass < 100; pass++) {
            if (!thread.waits(fews)) {
                used(few, fews, 40_000);
            }
            if (thread.waits(manys)) {
                waited++;
            } else {
                used(40_000, 40_000);
            }
            thread.passEnds();
        }
        assertTrue(waited < 60, waited + " passes");
    }

    /** Each server thread has other rings to look at: a part of a large map is brought up to date for a batch. */
    @Test
    void aBatchBringsAPartOfItsMapUpToDate() {
        int parts = 8;
        LeaseRegionTable map = new LeaseRegionTable(1, new int[parts * LeaseRegionTable.MOST_AT_ONCE], SHIFT);
        many.map(map);
        for (int i = 0; i < parts; i++) {
            assertFalse(map.isFresh(manys), "after " + i + " batches");
            RinglessCall.execute(thread.handler(false), manys, message, answer, 32);
        }
        assertTrue(map.isFresh(manys));
    }

    /** What is charged for a call while so much time passes on the clock, and so much of the thread's. */
    private long used(long clock, long ran) {
        return used(many, manys, clock, ran);
    }

    private void used(LeaseProcedures lease, HeldRegions client, long time) {
        used(lease, client, time, time);
    }

    private long used(LeaseProcedures lease, HeldRegions client, long clock, long ran) {
        long before = lease.used();
        RpcHandler handler = thread.handler(false);
        RpcHandler slow = (held, in, out) -> {
            handler.touch(held, in);
            int length = handler.execute(held, in, out);
            now += clock;
            processor += ran;
            handler.executed();
            return length;
        };
        assertTrue(RinglessCall.execute(slow, client, message, answer) > 0, "it was put off");
        return lease.used() - before;
    }
}
