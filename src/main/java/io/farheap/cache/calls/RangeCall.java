package io.farheap.cache.calls;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.farheap.cache.contract.CallCompletion;
import io.farheap.cache.contract.CallResult;
import io.farheap.cache.contract.CallResult.ResultJoiner;
import io.farheap.cache.order.RequestBuffer;
import io.farheap.memory.NativeMemory;
import io.farheap.procedure.Call;
import io.farheap.procedure.CallStatus;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * A range of a session: a call for each of its pieces. A piece has a slot from the moment at which its call is made
 * until its result is not needed any more; the slot has the arguments, and behind them the result. The object is reused
 * for other ranges.
 *
 * <p><b>Joining in order.</b> Calls end in any order, and on several servers at once. A slot whose call has ended holds
 * the result of a <i>run</i> of pieces that follow one another. It is joined with the run before it and the one behind
 * it at once, so between two runs there is always a piece whose call is not made, or is under way. If one server is
 * slower than others, there may be many such gaps. Once {@link #MOST_APART} slots are used, only the piece with the
 * lowest address of those that are left is called, until enough runs are joined. So the slots suffice: pieces beyond
 * the lowest one that is left use at most that many of them, and below it there is at most one run more than calls
 * under way.
 *
 * <p>One thread at a time. Nothing here allocates but {@link #begin}, and that only for a range that needs more memory
 * than those before.
 */
final class RangeCall implements CallCompletion, AutoCloseable {

    /** Makes the calls of pieces. */
    interface PieceCaller {

        /** How many calls may be made now. */
        int room();

        /** Makes the call of a piece of a range, for which there must be room. It waits for no other request. */
        void call(
                RegisteredProcedure procedure,
                long piece,
                long bytes,
                @Nullable RequestBuffer buffer,
                long arguments,
                int argumentBytes,
                long result,
                int resultBytes,
                RangeCall range,
                long slot);

        /**
         * {@linkplain RangeCall#withdrawn Takes} the calls of a range back that wait in the session and have not run.
         */
        void withdraw(RangeCall range);
    }

    /**
     * The most calls under way of one range, and of all ranges of a session together as long as each has at least
     * {@link #OWN_UNDER_WAY}, so that other calls find room.
     */
    static final int MOST_UNDER_WAY = 64;
    /**
     * So many calls of each range may always be under way: a range at a server that has stopped, which has all others,
     * keeps no range from calling other servers.
     */
    static final int OWN_UNDER_WAY = 16;
    /** The first arguments of each call: the address and the length of its piece. */
    static final int PIECE_BYTES = 2 * Long.BYTES;
    /** The most further arguments, in bytes. */
    static final int MOST_ARGUMENT_BYTES = Call.ARGUMENT_BYTES - PIECE_BYTES;

    /** How many slots may be used before only the piece of the lowest address is called. */
    private static final int MOST_APART = 128;
    /**
     * The slots of a range: one for each call, one for the joined result, and one whose result is being joined
     * meanwhile.
     */
    private static final int SLOTS = MOST_UNDER_WAY + 2;
    /** The same if results are joined in order, one of which may be joined with both neighbours. */
    private static final int ORDERED_SLOTS = MOST_APART + 2 * MOST_UNDER_WAY + 3;

    private static final int NONE = -1;

    private final PieceCaller calls;
    private final PieceSchedule schedule = new PieceSchedule();
    private @Nullable Arena arena;
    private MemorySegment memory = MemorySegment.NULL;

    private @Nullable RegisteredProcedure procedure;
    private long from;
    private long end;
    private @Nullable RequestBuffer buffer;
    private long arguments;
    private int argumentBytes;
    private long result;
    private int resultBytes;
    private @Nullable ResultJoiner joiner;
    private @Nullable RangeCompletion completion;
    private long token;

    /** Whether results are joined in order. */
    private boolean ordered;
    /** Bytes of a slot, and the offset of the result in it. */
    private long slotBytes;

    private int resultAt;
    private int slots;
    private final int[] free = new int[ORDERED_SLOTS];
    private int freeCount;
    /** By slot: the addresses of its piece or its run, the lane of its call, and the length of its result. */
    private final long[] first = new long[ORDERED_SLOTS];

    private final long[] behind = new long[ORDERED_SLOTS];
    private final int[] lane = new int[ORDERED_SLOTS];
    private final int[] length = new int[ORDERED_SLOTS];
    /** By slot: whether a server has had no place for its call. */
    private final boolean[] turnedAway = new boolean[ORDERED_SLOTS];
    /** By slot: whether it has the result of a run. */
    private final boolean[] run = new boolean[ORDERED_SLOTS];
    /** The slot of the joined result if results are joined in any order, or -1. */
    private int joined;
    /** Calls that are made and have not ended. */
    private int underWay;

    /** The end of the first call that failed; {@code DONE} if none has. */
    private int status;

    private int code;
    private long failedPiece;
    private long failedAddress;
    private int failedLine;

    RangeCall(PieceCaller calls) {
        this.calls = calls;
    }

    /**
     * Begins with a range that has been checked; if this throws, nothing has happened.
     *
     * @param inOrder whether results are joined in order
     */
    void begin(
            RegisteredProcedure called,
            long address,
            long bytes,
            long pieceBytes,
            RequestBuffer user,
            long argumentsAt,
            int argumentLength,
            long resultTo,
            int resultLength,
            @Nullable ResultJoiner joins,
            boolean inOrder,
            RangeCompletion done,
            long itsToken,
            long regionBytes,
            PieceSchedule.RegionLocator locator) {
        ordered = inOrder;
        slots = ordered ? ORDERED_SLOTS : SLOTS;
        resultAt = aligned(PIECE_BYTES + argumentLength);
        slotBytes = (long) resultAt + aligned(resultLength);
        reserve(slots * slotBytes);
        schedule.begin(address, bytes, pieceBytes, regionBytes, locator);
        from = address;
        end = address + bytes;
        buffer = user;
        arguments = argumentsAt;
        argumentBytes = argumentLength;
        result = resultTo;
        resultBytes = resultLength;
        joiner = joins;
        completion = done;
        token = itsToken;
        freeCount = 0;
        for (int slot = slots - 1; slot >= 0; slot--) {
            free[freeCount++] = slot;
        }
        Arrays.fill(run, false);
        joined = NONE;
        underWay = 0;
        status = CallStatus.DONE;
        code = 0;
        failedPiece = CallResult.NOWHERE;
        failedAddress = CallResult.NOWHERE;
        failedLine = 0;
        procedure = called;
    }

    private static int aligned(int bytes) {
        return bytes + Long.BYTES - 1 & -Long.BYTES;
    }

    private void reserve(long bytes) {
        if (memory.byteSize() < bytes) {
            Arena next = Arena.ofShared();
            try {
                memory = next.allocate(bytes, Long.BYTES);
            } catch (Throwable e) {
                next.close();
                throw e;
            }
            Arena before = arena;
            arena = next;
            if (before != null) {
                before.close();
            }
        }
    }

    /** Whether it is between issue and callback. */
    boolean pending() {
        return procedure != null;
    }

    /** Calls that have been made and have not ended. */
    int underWay() {
        return underWay;
    }

    /** Whether all calls that have been made have ended, and no other will be made. */
    boolean isOver() {
        return pending() && underWay == 0 && !hasMore();
    }

    /** Whether calls are left to make. */
    boolean hasMore() {
        return pending() && status == CallStatus.DONE && !schedule.isEmpty();
    }

    /** Whether calls are left to make, all of which wait for a region that moves, and none is under way. */
    boolean isHeld(int moving) {
        return hasMore() && underWay == 0 && schedule.waitsFor(moving, lowestOnly());
    }

    /** Whether calls are left to make that wait for a region that moves. */
    boolean hasHeld(int moving) {
        return hasMore() && schedule.hasLeftIn(moving);
    }

    private boolean lowestOnly() {
        return ordered && slots - freeCount >= MOST_APART;
    }

    /**
     * Makes the call of the next piece; there must be a place for it.
     *
     * @param moving the region that moves, or -1
     * @param most the most calls of this range that may be under way now, at most {@link #MOST_UNDER_WAY}
     * @return false if no piece can be called now
     */
    boolean callNext(int moving, int most) {
        if (status != CallStatus.DONE || underWay >= most || !schedule.take(moving, lowestOnly(), most)) {
            return false;
        }
        int slot = free[--freeCount];
        first[slot] = schedule.address();
        behind[slot] = schedule.addressEnd();
        lane[slot] = schedule.lane();
        turnedAway[slot] = false;
        long at = offset(slot);
        memory.set(JAVA_LONG, at, first[slot]);
        memory.set(JAVA_LONG, at + Long.BYTES, behind[slot] - first[slot]);
        MemorySegment.copy(NativeMemory.ALL, arguments, memory, at + PIECE_BYTES, argumentBytes);
        call(slot);
        return true;
    }

    private long offset(int slot) {
        return slot * slotBytes;
    }

    private long resultOf(int slot) {
        return offset(slot) + resultAt;
    }

    // A pending range has a procedure.
    @SuppressWarnings("NullAway")
    private void call(int slot) {
        underWay++;
        long at = memory.address() + offset(slot);
        calls.call(
                procedure,
                first[slot],
                behind[slot] - first[slot],
                buffer,
                at,
                PIECE_BYTES + argumentBytes,
                at + resultAt,
                resultBytes,
                this,
                slot);
    }

    @Override
    public void completed(long slot, int how, int returned, int bytes) {
        completed(slot, how, returned, bytes, CallResult.NOWHERE, 0);
    }

    @Override
    public void completed(long itsSlot, int how, int returned, int bytes, long address, int line) {
        int slot = (int) itsSlot;
        underWay--;
        schedule.ended(lane[slot]);
        ResultJoiner joins = joiner;
        if (how != CallStatus.DONE) {
            release(slot);
            fail(how, returned, first[slot], address, line);
        } else if (joins == null) {
            handOver(slot, returned, bytes);
        } else if (status != CallStatus.DONE) {
            release(slot);
        } else {
            length[slot] = bytes;
            if (ordered) {
                joinNeighbours(joins, slot);
            } else if (joined == NONE) {
                joined = slot;
            } else {
                join(joins, joined, slot);
                release(slot);
            }
        }
    }

    /**
     * A server has no place for a call, which has not run there.
     *
     * @return whether the call waits for a place, and stays under way; if not, the range has failed, and the call ends
     */
    boolean refused(long itsSlot) {
        int slot = (int) itsSlot;
        if (status != CallStatus.DONE) {
            return false;
        }
        // If it was sent again and refused again, that says nothing new of how many calls the server takes.
        if (!turnedAway[slot]) {
            turnedAway[slot] = true;
            schedule.refused(lane[slot]);
        }
        return true;
    }

    /** A call that was made has been taken back before it ran. */
    void withdrawn(long slot) {
        underWay--;
        schedule.ended(lane[(int) slot]);
        release((int) slot);
    }

    private void release(int slot) {
        free[freeCount++] = slot;
    }

    /** Notes the first failure: no call begins after it. */
    private void fail(int how, int why, long piece, long address, int line) {
        if (status == CallStatus.DONE) {
            status = how;
            code = why;
            failedPiece = piece;
            failedAddress = address;
            failedLine = line;
            calls.withdraw(this);
        }
    }

    // As in call.
    @SuppressWarnings("NullAway")
    private void handOver(int slot, int returned, int bytes) {
        MemorySegment.copy(memory, resultOf(slot), NativeMemory.ALL, result, bytes);
        release(slot);
        completion.pieceCompleted(token, first[slot], behind[slot] - first[slot], returned, bytes);
    }

    private void joinNeighbours(ResultJoiner joins, int slot) {
        int before = NONE;
        int after = NONE;
        for (int other = 0; other < slots; other++) {
            if (run[other] && behind[other] == first[slot]) {
                before = other;
            } else if (run[other] && first[other] == behind[slot]) {
                after = other;
            }
        }
        run[slot] = true;
        int to = slot;
        if (before != NONE) {
            joinRuns(joins, before, slot);
            to = before;
        }
        if (after != NONE && status == CallStatus.DONE) {
            joinRuns(joins, to, after);
        }
    }

    private void joinRuns(ResultJoiner joins, int to, int later) {
        run[later] = false;
        behind[to] = behind[later];
        join(joins, to, later);
        release(later);
    }

    /**
     * Joins two results; a failure ends the range. The second is released after that: the joiner may call another range
     * meanwhile, which makes calls of this one, too.
     */
    private void join(ResultJoiner joins, int to, int later) {
        if (length[later] == 0) {
            return;
        }
        if (length[to] == 0) {
            MemorySegment.copy(memory, resultOf(later), memory, resultOf(to), length[later]);
            length[to] = length[later];
            return;
        }
        int bytes;
        try {
            bytes = joins.join(memory, resultOf(to), length[to], resultOf(later), length[later], resultBytes);
        } catch (Throwable e) {
            fail(CallStatus.INCOMPLETE, CallStatus.NOT_JOINED, first[later], CallResult.NOWHERE, 0);
            throw e;
        }
        if (bytes < 0 || bytes > resultBytes) {
            fail(CallStatus.RESULT_FULL, 0, first[later], CallResult.NOWHERE, 0);
        } else {
            length[to] = bytes;
        }
    }

    /** Ends the range if calls are left to make, as one that was refused: its session is closed. */
    void abandon() {
        if (hasMore()) {
            fail(CallStatus.REFUSED, CallStatus.CLOSED, schedule.lowestAddress(), CallResult.NOWHERE, 0);
        }
    }

    /** Calls a range back that {@linkplain #isOver is over}; the object is free before that. */
    // As in call.
    @SuppressWarnings("NullAway")
    void end() {
        int bytes = 0;
        if (status == CallStatus.DONE && joiner != null) {
            int slot = ordered ? wholeRun() : joined;
            bytes = length[slot];
            MemorySegment.copy(memory, resultOf(slot), NativeMemory.ALL, result, bytes);
        }
        RangeCompletion done = completion;
        procedure = null;
        buffer = null;
        joiner = null;
        completion = null;
        done.completed(token, status, code, bytes, failedPiece, failedAddress, failedLine);
    }

    /** The slot of the run that has all pieces. */
    private int wholeRun() {
        for (int slot = 0; slot < slots; slot++) {
            if (run[slot] && first[slot] == from && behind[slot] == end) {
                return slot;
            }
        }
        throw new IllegalStateException("pieces of the range from " + from + " to " + end + " are not joined");
    }

    /** Whether a request has to wait for it: its footprint is the range. */
    // As in call.
    @SuppressWarnings("NullAway")
    boolean blocks(boolean write, long at, long bytes) {
        return pending()
                && !procedure.unordered()
                && (write || !procedure.readsOnly())
                && at < end
                && from < at + bytes;
    }

    boolean uses(RequestBuffer candidate) {
        return buffer == candidate;
    }

    boolean reaches(long limit) {
        return pending() && end > limit;
    }

    @Override
    public void close() {
        Arena last = arena;
        arena = null;
        memory = MemorySegment.NULL;
        if (last != null) {
            last.close();
        }
    }
}
