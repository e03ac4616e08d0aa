package io.farheap.cache.calls;

import io.farheap.cache.contract.CallCompletion.RangeCompletion;
import io.farheap.cache.contract.CallResult.ResultJoiner;
import io.farheap.cache.order.RequestBuffer;
import io.farheap.lifetime.Closeables;
import io.farheap.migration.region.RegionTable;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The ranges of a session whose calls have not all ended. In the order of requests a range is one request, whose
 * footprint is the range, from the moment at which it is accepted until its callback; the calls of its pieces wait for
 * nothing. Ranges take turns in making calls, and each may always have some of its own under way. Inside the session's
 * gate, or with it claimed.
 */
final class SessionRanges implements AutoCloseable {

    /** The most ranges of a session between issue and callback. */
    static final int MOST = 4;

    private final RangeCall.PieceCaller calls;
    private final RegionTable table;
    private final CacheProcedures procedures;
    private final PieceSchedule.RegionLocator locator;
    /** Objects are made with the first range that needs one. */
    private final @Nullable RangeCall[] all = new RangeCall[MOST];

    private int pending;
    private int turn;

    SessionRanges(RangeCall.PieceCaller calls, RegionTable table, CacheProcedures procedures) {
        this.calls = calls;
        this.table = table;
        this.procedures = procedures;
        this.locator = region -> table.get(region).copy().server();
    }

    /**
     * Accepts a range that has been checked, and makes its first calls.
     *
     * @param ordered what the joiner says, if there is one
     * @return false if there is no room
     */
    boolean call(
            RegisteredProcedure called,
            long from,
            long bytes,
            long piece,
            RequestBuffer buffer,
            long arguments,
            int argumentBytes,
            long result,
            int resultBytes,
            @Nullable ResultJoiner joiner,
            boolean ordered,
            RangeCompletion completion,
            long token) {
        if (pending == MOST) {
            return false;
        }
        free().begin(
                        called,
                        from,
                        bytes,
                        piece,
                        buffer,
                        arguments,
                        argumentBytes,
                        result,
                        resultBytes,
                        joiner,
                        ordered,
                        completion,
                        token,
                        table.regionBytes(),
                        locator);
        pending++;
        makeCalls();
        return true;
    }

    private RangeCall free() {
        for (int i = 0; i < MOST; i++) {
            RangeCall range = all[i];
            if (range == null) {
                range = new RangeCall(calls);
                all[i] = range;
            }
            if (!range.pending()) {
                return range;
            }
        }
        throw new IllegalStateException(pending + " ranges of " + MOST + " are pending, and there is none left");
    }

    /** Makes calls as far as there is room; ranges take turns. */
    private void makeCalls() {
        int moving = procedures.moving();
        int free = RangeCall.MOST_UNDER_WAY - underWay();
        int room = calls.room();
        for (int idle = 0; room > 0 && idle < MOST; ) {
            RangeCall range = all[turn];
            turn = turn + 1 == MOST ? 0 : turn + 1;
            if (range != null && range.pending() && range.callNext(moving, most(range, free))) {
                room--;
                free--;
                idle = 0;
            } else {
                idle++;
            }
        }
    }

    /** How many calls of a range may be under way if there is room for so many more of all ranges. */
    private static int most(RangeCall range, int free) {
        return Math.max(RangeCall.OWN_UNDER_WAY, range.underWay() + free);
    }

    private int underWay() {
        int sum = 0;
        for (RangeCall range : all) {
            sum += range == null || !range.pending() ? 0 : range.underWay();
        }
        return sum;
    }

    /**
     * Makes calls, and calls the ranges back of which all calls have ended.
     *
     * @return whether a range was called back; others may have ended, too
     */
    boolean poll() {
        makeCalls();
        for (RangeCall range : all) {
            if (range != null && range.isOver()) {
                pending--;
                range.end();
                return true;
            }
        }
        return false;
    }

    /** Ranges between issue and callback. */
    int pending() {
        return pending;
    }

    /** How many of them have no call under way, and wait for a region that moves. */
    int held() {
        int moving = procedures.moving();
        int held = 0;
        for (RangeCall range : all) {
            held += range != null && range.isHeld(moving) ? 1 : 0;
        }
        return held;
    }

    /** Whether the next poll calls a range back, although no other call ends. */
    boolean isOver() {
        for (RangeCall range : all) {
            if (range != null && range.isOver()) {
                return true;
            }
        }
        return false;
    }

    /**
     * Whether calls are left to make that become possible without an event: those that wait for a region that moves.
     * The others wait for answers.
     */
    boolean waits() {
        if (pending == 0) {
            return false;
        }
        int moving = procedures.moving();
        for (RangeCall range : all) {
            if (range != null && range.hasHeld(moving)) {
                return true;
            }
        }
        return false;
    }

    /** As {@link CallTable#blocks(boolean, long, long)}. */
    boolean blocks(boolean write, long at, long length) {
        for (int i = 0; pending > 0 && i < MOST; i++) {
            RangeCall range = all[i];
            if (range != null && range.blocks(write, at, length)) {
                return true;
            }
        }
        return false;
    }

    boolean uses(RequestBuffer candidate) {
        for (RangeCall range : all) {
            if (range != null && range.uses(candidate)) {
                return true;
            }
        }
        return false;
    }

    boolean reaches(long end) {
        for (RangeCall range : all) {
            if (range != null && range.reaches(end)) {
                return true;
            }
        }
        return false;
    }

    /** Ends the ranges that have calls left to make; they are called back by polls. */
    void abandon() {
        for (RangeCall range : all) {
            if (range != null) {
                range.abandon();
            }
        }
    }

    @Override
    public void close() {
        Closeables.all(Arrays.asList(all));
    }
}
