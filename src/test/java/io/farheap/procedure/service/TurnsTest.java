package io.farheap.procedure.service;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.memory.NativeMemory;
import io.farheap.procedure.CallStatus;
import io.farheap.procedure.translate.running.CallContext;
import io.farheap.procedure.translate.running.Translation;
import io.farheap.rpc.HeldRegions;
import io.farheap.rpc.RegionHolders;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.SplittableRandom;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Calls that run in turns have the same results as calls that run one after another. */
class TurnsTest {

    private static final int SHIFT = 16;
    private static final int REGIONS = 4;
    private static final int LEASE = 3;
    private static final int NODES = REGIONS << SHIFT - 6;
    private static final int CALLS = 24;

    private final long seed = Long.getLong("farheap.seed", System.nanoTime());
    private final SplittableRandom random = new SplittableRandom(seed);
    private final Arena arena = Arena.ofConfined();
    private final MemorySegment memory = arena.allocate((long) REGIONS << SHIFT, 4096);
    private final RegionHolders holders = new RegionHolders(memory, 1 << SHIFT, REGIONS);
    private final HeldRegions held = new HeldRegions(holders, LEASE, "test");
    private final LeaseProcedures lease = new LeaseProcedures("test", () -> 0);
    private final Translation hops = Procs.translated(Procs.Hops.class);
    private final Translation add = Procs.translated(Procs.Add.class);
    private final SliceRunner slices = new SliceRunner();

    @BeforeEach
    void fill() {
        int[] regions = new int[REGIONS];
        for (int i = 0; i < REGIONS; i++) {
            held.hold(i);
            regions[i] = i;
        }
        lease.map(new LeaseRegionTable(1, regions, SHIFT));
        for (int i = 0; i < NODES; i++) {
            memory.set(JAVA_LONG, i * 64L, random.nextInt(NODES) * 64L);
        }
    }

    @AfterEach
    void close() {
        arena.close();
    }

    private RunningCall call(Translation procedure, long first, long second, long span) {
        RunningCall call = new RunningCall();
        call.begin(held, lease, new ServedProcedure(1, procedure));
        call.end = span;
        call.context.begin(procedure.code(), 0, span, 16, 8, 1_000_000);
        NativeMemory.ALL.set(JAVA_LONG, call.context.argumentsAddress(), first);
        NativeMemory.ALL.set(JAVA_LONG, call.context.argumentsAddress() + 8, second);
        return call;
    }

    private static long result(RunningCall call) {
        return NativeMemory.ALL.get(JAVA_LONG, call.context.resultAddress());
    }

    private long followed(long node, long depth) {
        long at = node;
        for (long i = 0; i < depth; i++) {
            at = memory.get(JAVA_LONG, at);
        }
        return at;
    }

    /** A map that is not up to date yet serves no call: it waits for its next slice, as if it had no fuel left. */
    @Test
    void callsWaitUntilTheirMapIsWhole() {
        int[] regions = new int[2 * LeaseRegionTable.MOST_AT_ONCE];
        lease.map(new LeaseRegionTable(2, regions, SHIFT));
        RunningCall alone = call(hops, 0, 1, 1 << SHIFT);
        assertEquals(0, slices.one(alone, 1_000));
        assertEquals(CallContext.FUEL, alone.left);
        assertEquals(0, slices.one(alone, 1_000), "the thread has not looked at its rings since");
        slices.beginWork();
        assertTrue(slices.one(alone, 1_000) > 0);
        assertEquals(CallContext.RETURNED, alone.left);
        assertEquals(followed(0, 1), result(alone));
        lease.map(new LeaseRegionTable(3, regions, SHIFT));
        slices.beginWork();
        RunningCall[] both = {call(hops, 0, 1, 1 << SHIFT), call(hops, 0, 1, 1 << SHIFT)};
        assertEquals(0, slices.inTurns(both, 2, 1_000));
        assertEquals(CallContext.FUEL, both[0].left);
        assertEquals(CallContext.FUEL, both[1].left);
        slices.beginWork();
        assertTrue(slices.inTurns(both, 2, 1_000) > 0);
        assertEquals(CallContext.RETURNED, both[1].left);
    }

    private void endAll(RunningCall[] calls, int fuel) {
        int running = calls.length;
        RunningCall[] left = calls.clone();
        for (int rounds = 0; running > 0; rounds++) {
            assertTrue(rounds < 100_000, "they do not end; seed " + seed);
            slices.inTurns(left, running, fuel);
            int still = 0;
            for (int i = 0; i < running; i++) {
                if (left[i].left == CallContext.TURN || left[i].left == CallContext.FUEL) {
                    left[still++] = left[i];
                }
            }
            running = still;
        }
    }

    @Test
    void eachEndsWhereItsChainLeads() {
        for (int fuel : new int[] {1, 7, 40, 100_000}) {
            RunningCall[] calls = new RunningCall[CALLS];
            long[] first = new long[CALLS];
            for (int i = 0; i < CALLS; i++) {
                first[i] = random.nextInt(NODES) * 64L;
                calls[i] = call(hops, first[i], i * i, (long) REGIONS << SHIFT);
            }
            endAll(calls, fuel);
            for (int i = 0; i < CALLS; i++) {
                assertEquals(CallContext.RETURNED, calls[i].left, "seed " + seed);
                assertEquals(followed(first[i], i * i), result(calls[i]), "seed " + seed);
            }
        }
    }

    /** A call that fails ends alone; the others of its turns continue. */
    @Test
    void whatEndsBadlyEndsAlone() {
        holders.clear(2);
        long span = (long) REGIONS << SHIFT;
        for (int i = 0; i < NODES; i++) {
            memory.set(JAVA_LONG, i * 64L, 0);
        }
        RunningCall[] calls = {
            call(hops, 0, 5, span),
            call(hops, span, 5, span),
            call(hops, 2L << SHIFT, 5, span),
            call(hops, 4, 5, 1L << 40),
            call(hops, (1 << SHIFT) - 4, 5, span),
            call(hops, 0, 1_000_000, span),
            call(hops, 64, 1, span)
        };
        endAll(calls, 1000);
        int[] left = {
            CallContext.RETURNED,
            CallContext.ENDED,
            CallContext.ACCESS,
            CallContext.ENDED,
            CallContext.ENDED,
            CallContext.ENDED,
            0
        };
        int[] status = {0, CallStatus.OUT_OF_RANGE, 0, 0, CallStatus.SPLIT, CallStatus.OUT_OF_FUEL, 0};
        for (int i = 0; i < calls.length; i++) {
            assertEquals(left[i], calls[i].left, "call " + i);
            assertEquals(status[i], calls[i].context.status(), "call " + i);
        }
        assertEquals(2L << SHIFT, calls[2].context.address());
    }

    @Test
    void atomicsAreMadeOnce() {
        memory.set(JAVA_LONG, 128, 0);
        RunningCall[] calls = new RunningCall[CALLS];
        for (int i = 0; i < CALLS; i++) {
            calls[i] = call(add, 128, i, (long) REGIONS << SHIFT);
        }
        endAll(calls, 3);
        assertEquals(CALLS * (CALLS - 1) / 2, memory.get(JAVA_LONG, 128));
    }

    /** A call runs in turns at first, then alone, then in turns again. */
    @Test
    void theyGoOnTheOtherWay() {
        long start = random.nextInt(NODES) * 64L;
        RunningCall call = call(hops, start, 200, (long) REGIONS << SHIFT);
        for (int slice = 0; slice == 0 || call.left != CallContext.RETURNED; slice++) {
            assertTrue(slice < 1000, "seed " + seed);
            if (slice % 2 == 0) {
                RunningCall other = call(hops, 0, 50, (long) REGIONS << SHIFT);
                slices.inTurns(new RunningCall[] {call, other}, 2, 60);
            } else {
                slices.one(call, 60);
            }
        }
        assertEquals(followed(start, 200), result(call), "seed " + seed);
    }
}
