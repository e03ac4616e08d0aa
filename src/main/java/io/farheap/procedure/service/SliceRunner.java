package io.farheap.procedure.service;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.farheap.memory.NativeMemory;
import io.farheap.posix.AsymmetricFence;
import io.farheap.procedure.translate.running.CallContext;
import io.farheap.rpc.HeldRegions;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.lang.ref.Reference;
import java.util.Arrays;

/**
 * Runs calls for a slice on one thread, each in its lease's map: one after another, or in turns. In turns, each call
 * runs to its next access to another cache line; then a byte at each call's next address is loaded, so that these cache
 * misses overlap.
 *
 * <p><b>Replacing a map.</b> {@code slices} is odd while a context runs; only the thread that runs it writes it. The
 * thread stores it before it loads the lease's map. A thread that has stored a new map executes a heavy fence, and then
 * looks from time to time until it has seen each thread's {@code slices} even or changed: from then on no thread uses
 * the old map ({@link UnderWaySlices}). {@link AsymmetricFence} orders the store of {@code slices} before the load of
 * the map (light), against the store of the map before the load of {@code slices} (heavy).
 */
final class SliceRunner {

    private static final VarHandle SLICES;

    static {
        try {
            SLICES = MethodHandles.lookup().findVarHandle(SliceRunner.class, "slices", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    @SuppressWarnings("unused")
    private int slices;
    /** The calls of a group that are to continue. */
    private RunningCall[] turning = new RunningCall[16];
    /** Whether a map was brought up to date, or a part of it, since {@link #beginWork}. */
    private boolean refreshed;
    /** Keeps the compiler from removing loads whose values are not used. */
    @SuppressWarnings("unused")
    private long touched;

    /**
     * A batch of calls begins, or a slice, between which the thread looks at its rings: a part of one map may be
     * brought up to date in it.
     */
    void beginWork() {
        refreshed = false;
    }

    /** Brings a map up to date, or a part of it, once since {@link #beginWork}; returns whether it may be used. */
    boolean bringUpToDate(LeaseRegionTable map, HeldRegions held) {
        if (map.isFresh(held)) {
            return true;
        }
        if (refreshed) {
            return false;
        }
        refreshed = true;
        return map.refresh(held);
    }

    /** Begins a slice: the map that is loaded from here on stays in use until {@link #end}. */
    void begin() {
        SLICES.setRelease(this, slices + 1);
        AsymmetricFence.light();
    }

    void end() {
        SLICES.setRelease(this, slices + 1);
    }

    /**
     * Runs one call, and sets {@link RunningCall#left} to its outcome: that it is to continue, and has not run, if its
     * lease's map is being brought up to date.
     *
     * @return units of fuel that it took
     */
    // A call in progress has a lease and its regions.
    @SuppressWarnings("NullAway")
    long one(RunningCall call, int fuel) {
        CallContext context = call.context;
        begin();
        LeaseRegionTable map = call.lease.map();
        try {
            if (!bringUpToDate(map, call.held)) {
                call.left = CallContext.FUEL;
                return 0;
            }
            long before = context.fuelUsed();
            call.left = CallContext.ENDED;
            if (Long.compareUnsigned(call.end, map.span()) <= 0) {
                context.turns(false);
                context.map(map.table(), map.entries(), map.shift());
                call.left = context.run(fuel);
            }
            return context.fuelUsed() - before;
        } finally {
            Reference.reachabilityFence(map);
            end();
        }
    }

    /**
     * Runs some calls of one lease in turns.
     *
     * @param fuel for each
     * @return units of fuel that all of them took
     */
    // As in one.
    @SuppressWarnings("NullAway")
    long inTurns(RunningCall[] calls, int count, int fuel) {
        if (count > turning.length) {
            turning = new RunningCall[Integer.highestOneBit(count) * 2];
        }
        begin();
        LeaseRegionTable map = calls[0].lease.map();
        try {
            boolean fresh = bringUpToDate(map, calls[0].held);
            int live = 0;
            for (int i = 0; i < count; i++) {
                RunningCall call = calls[i];
                call.left = fresh ? CallContext.ENDED : CallContext.FUEL;
                if (fresh && Long.compareUnsigned(call.end, map.span()) <= 0) {
                    call.context.turns(true);
                    call.context.map(map.table(), map.entries(), map.shift());
                    call.fuelLeft = fuel;
                    turning[live++] = call;
                }
            }
            return turns(live);
        } finally {
            Reference.reachabilityFence(map);
            end();
            Arrays.fill(turning, 0, count, null);
        }
    }

    private long turns(int count) {
        long units = 0;
        int live = count;
        while (live > 0) {
            if (live == 1) {
                // There is no other call whose misses would overlap with those of this one.
                turning[0].context.turns(false);
            }
            int still = 0;
            for (int i = 0; i < live; i++) {
                RunningCall call = turning[i];
                long before = call.context.fuelUsed();
                call.left = call.context.run(call.fuelLeft);
                int took = (int) (call.context.fuelUsed() - before);
                call.fuelLeft -= took;
                units += took;
                if (call.left == CallContext.TURN && call.fuelLeft > 0) {
                    turning[still++] = call;
                }
            }
            live = still;
            touched += touch(live);
        }
        return units;
    }

    /** A separate loop, so that a processor can look ahead to all of these loads. */
    private long touch(int live) {
        long sum = 0;
        for (int i = 0; i < live; i++) {
            sum += NativeMemory.ALL.get(JAVA_BYTE, turning[i].context.touchAddress());
        }
        return sum;
    }

    /** Called after a heavy fence: the number of the slice that may have begun before it; even if there is none. */
    int underWay() {
        return (int) SLICES.getAcquire(this);
    }

    /** Whether the slice of a number that {@link #underWay} returned has ended. */
    boolean over(int number) {
        return (number & 1) == 0 || (int) SLICES.getAcquire(this) != number;
    }
}
