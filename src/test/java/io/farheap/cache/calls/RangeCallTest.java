package io.farheap.cache.calls;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.cache.contract.CallCompletion.RangeCompletion;
import io.farheap.cache.contract.CallResult;
import io.farheap.cache.contract.CallResult.RangeResult;
import io.farheap.cache.contract.CallResult.ResultJoiner;
import io.farheap.cache.order.RequestBuffer;
import io.farheap.memory.NativeMemory;
import io.farheap.procedure.CallStatus;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The calls of a range whose results come in any order, without a server. */
class RangeCallTest {

    private static final long REGION = 64;
    private static final int PIECE = 8;
    private static final int MOST = RangeCall.MOST_UNDER_WAY;

    /** A call that was made and has not ended. */
    private record MadeCall(long piece, long bytes, long arguments, long result, long slot) {}

    private final Arena arena = Arena.ofConfined();
    private final MemorySegment memory = arena.allocate(8192, 8);
    private final List<MadeCall> made = new ArrayList<>();
    private final List<MadeCall> kept = new ArrayList<>();
    private final RegisteredProcedure procedure =
            new RegisteredProcedure(this, 0, RegisteredProcedure.READS, null, new byte[0]) {};
    private final RequestBuffer buffer = new RequestBuffer(closed -> {}, memory, 0, () -> {}) {};
    private final RangeCall range = new RangeCall(new PieceList());
    private final List<Long> handedOver = new ArrayList<>();
    private RangeResult ended;

    /** Lists the calls instead of making them. */
    private final class PieceList implements RangeCall.PieceCaller {

        @Override
        public int room() {
            return 2 * MOST;
        }

        @Override
        public void call(
                RegisteredProcedure called,
                long piece,
                long bytes,
                RequestBuffer user,
                long arguments,
                int argumentBytes,
                long result,
                int resultBytes,
                RangeCall of,
                long slot) {
            made.add(new MadeCall(piece, bytes, arguments, result, slot));
        }

        @Override
        public void withdraw(RangeCall of) {
            kept.forEach(call -> of.withdrawn(call.slot()));
            kept.clear();
        }
    }

    private final RangeCompletion completion = new RangeCompletion() {

        @Override
        public void completed(long token, int status, int code, int resultBytes) {
            throw new AssertionError("the method without the piece");
        }

        @Override
        public void completed(long token, int status, int code, int resultBytes, long piece, long address, int line) {
            ended = new RangeResult(status, code, resultBytes, piece, address, line);
        }

        @Override
        public void pieceCompleted(long token, long piece, long bytes, int code, int resultBytes) {
            assertEquals(PIECE, bytes);
            assertEquals(Long.BYTES, resultBytes);
            assertEquals(piece, memory.get(JAVA_LONG, 4096));
            handedOver.add(piece);
        }
    };

    /** Puts results behind one another: each is a list of addresses. */
    private static final ResultJoiner LISTS = (memory, at, bytes, laterAt, laterBytes, room) -> {
        assertTrue(memory.get(JAVA_LONG, at + bytes - 8) < memory.get(JAVA_LONG, laterAt), "in order");
        if (bytes + laterBytes <= room) {
            MemorySegment.copy(memory, laterAt, memory, at + bytes, laterBytes);
        }
        return bytes + laterBytes;
    };

    /** Of two results keeps the first address and the last: they follow one another without a gap. */
    private static final ResultJoiner ENDS = (memory, at, bytes, laterAt, laterBytes, room) -> {
        assertEquals(memory.get(JAVA_LONG, at + 8), memory.get(JAVA_LONG, laterAt), "neighbours");
        memory.set(JAVA_LONG, at + 8, memory.get(JAVA_LONG, laterAt + 8));
        return 16;
    };

    @AfterEach
    void close() {
        range.close();
        arena.close();
    }

    private void begin(long from, long bytes, int argumentBytes, int resultBytes, ResultJoiner joiner, int servers) {
        ended = null;
        range.begin(
                procedure,
                from,
                bytes,
                PIECE,
                buffer,
                memory.address(),
                argumentBytes,
                memory.address() + 4096,
                resultBytes,
                joiner,
                joiner != null && joiner.ordered(),
                completion,
                7,
                REGION,
                region -> Integer.toString(region % servers).intern());
    }

    private void callAll() {
        while (range.underWay() < MOST && range.callNext(-1, MOST)) {
            assertTrue(range.pending());
        }
    }

    private void end(MadeCall call, int status, int code, int bytes) {
        made.remove(call);
        range.completed(call.slot(), status, code, bytes, CallResult.NOWHERE, 0);
    }

    private void done(MadeCall call, long... result) {
        for (int i = 0; i < result.length; i++) {
            NativeMemory.ALL.set(JAVA_LONG_UNALIGNED, call.result() + 8L * i, result[i]);
        }
        end(call, CallStatus.DONE, 0, 8 * result.length);
    }

    private void finish() {
        assertTrue(range.isOver());
        range.end();
        assertFalse(range.pending());
    }

    @Test
    void theFirstArgumentsAreThePieceAndTheOthersFollow() {
        memory.set(JAVA_LONG, 0, 4711);
        begin(24, 10, 8, 8, CallResult.SUM, 1);
        callAll();
        assertEquals(2, made.size());
        long at = made.get(1).arguments();
        assertEquals(32, NativeMemory.ALL.get(JAVA_LONG_UNALIGNED, at));
        assertEquals(2, NativeMemory.ALL.get(JAVA_LONG_UNALIGNED, at + 8));
        assertEquals(4711, NativeMemory.ALL.get(JAVA_LONG_UNALIGNED, at + 16));
        assertEquals(32, made.get(1).piece());
        assertEquals(2, made.get(1).bytes());
    }

    @Test
    void longsAreAddedOrCompared() {
        for (ResultJoiner joiner : List.of(CallResult.SUM, CallResult.LEAST, CallResult.GREATEST)) {
            begin(0, 100 * PIECE, 0, 8, joiner, 3);
            for (long value = -50; range.hasMore() || !made.isEmpty(); value++) {
                callAll();
                done(made.getLast(), value);
            }
            finish();
            assertEquals(new RangeResult(CallStatus.DONE, 0, 8, CallResult.NOWHERE, CallResult.NOWHERE, 0), ended);
            long expected = joiner == CallResult.SUM ? -50 : joiner == CallResult.LEAST ? -50 : 49;
            assertEquals(expected, memory.get(JAVA_LONG, 4096));
        }
    }

    @Test
    void anEmptyResultIsLeftOut() {
        for (ResultJoiner joiner : List.of(CallResult.SUM, LISTS)) {
            begin(0, 3 * PIECE, 0, 8, joiner, 1);
            callAll();
            done(made.get(1));
            done(made.getFirst());
            done(made.getFirst(), 5);
            finish();
            assertEquals(8, ended.bytes());
            assertEquals(5, memory.get(JAVA_LONG, 4096));
            begin(0, PIECE, 0, 8, joiner, 1);
            callAll();
            done(made.getFirst());
            finish();
            assertEquals(0, ended.bytes());
        }
    }

    @Test
    void withoutAJoinerEachResultIsHandedOver() {
        begin(0, 100 * PIECE, 0, 8, null, 2);
        while (range.hasMore() || !made.isEmpty()) {
            callAll();
            MadeCall last = made.getLast();
            done(last, last.piece());
        }
        finish();
        assertEquals(CallStatus.DONE, ended.status());
        assertEquals(0, ended.bytes());
        assertEquals(100, handedOver.stream().distinct().count());
        assertEquals(100, handedOver.size());
    }

    /**
     * Results come in any order; some servers are so slow that others are far ahead. The slots are enough, and only
     * neighbours are joined, in order.
     */
    @Test
    void resultsAreJoinedInOrderHoweverTheyCome() {
        long seed = System.nanoTime();
        SplittableRandom random = new SplittableRandom(seed);
        for (int round = 0; round < 40; round++) {
            int servers = random.nextInt(1, 9);
            int slow = random.nextInt(servers);
            int patience = random.nextInt(1, 2000);
            long from = random.nextLong(100) * PIECE;
            int pieces = random.nextInt(1, 3000);
            begin(from, (long) pieces * PIECE, 0, 16, ENDS, servers);
            int most = 0;
            for (int step = 0; range.hasMore() || !made.isEmpty(); step++) {
                callAll();
                most = Math.max(most, made.size());
                MadeCall next = made.get(random.nextInt(made.size()));
                boolean waits = step % patience != 0 && next.piece() / REGION % servers == slow && servers > 1;
                if (!waits || made.size() == MOST && step % 64 == 0) {
                    done(next, next.piece(), next.piece() + next.bytes());
                }
            }
            finish();
            assertEquals(CallStatus.DONE, ended.status(), () -> "seed " + seed);
            assertEquals(from, memory.get(JAVA_LONG, 4096), () -> "seed " + seed);
            assertEquals(from + (long) pieces * PIECE, memory.get(JAVA_LONG, 4096 + 8), () -> "seed " + seed);
            assertTrue(most <= MOST);
        }
    }

    /**
     * Each second region is on a server that answers nothing until the other one has no piece left that it may have.
     */
    @Test
    void aServerThatIsFarAheadWaits() {
        int regions = 400;
        begin(0, regions * REGION, 0, 16, ENDS, 2);
        int ahead = 0;
        for (int idle = 0; idle < 2; idle++) {
            callAll();
            for (MadeCall call : List.copyOf(made)) {
                if (call.piece() / REGION % 2 == 1) {
                    done(call, call.piece(), call.piece() + call.bytes());
                    ahead++;
                    idle = 0;
                }
            }
        }
        assertTrue(ahead > 64 && ahead < regions * REGION / PIECE / 2, ahead + " pieces of the faster server");
        while (range.hasMore() || !made.isEmpty()) {
            callAll();
            MadeCall call = made.getLast();
            done(call, call.piece(), call.piece() + call.bytes());
        }
        finish();
        assertEquals(regions * REGION, memory.get(JAVA_LONG, 4096 + 8));
    }

    @Test
    void aJoinedResultThatIsTooLongEndsTheRange() {
        begin(0, 4 * PIECE, 0, 24, LISTS, 1);
        callAll();
        for (int i = 0; i < 4; i++) {
            done(made.getFirst(), 1 + i);
        }
        finish();
        assertEquals(CallStatus.RESULT_FULL, ended.status());
        assertEquals(3 * PIECE, ended.piece());
        assertEquals(0, ended.bytes());
    }

    @Test
    void aJoinerThatThrowsEndsTheRange() {
        begin(0, 1000 * PIECE, 0, 16, CallResult.SUM, 1);
        callAll();
        done(made.getFirst(), 1);
        MadeCall wrong = made.getFirst();
        assertThrows(IllegalArgumentException.class, () -> done(wrong, 2, 3));
        assertFalse(range.hasMore());
        while (!made.isEmpty()) {
            done(made.getFirst(), 1);
        }
        finish();
        assertEquals(CallStatus.INCOMPLETE, ended.status());
        assertEquals(CallStatus.NOT_JOINED, ended.code());
        assertEquals(wrong.piece(), ended.piece());
        assertEquals(
                "incomplete: it ran in part; the results could not be joined, in the piece that begins at 8",
                ended.describe());
    }

    /** Those that wait in the session are taken back, and those that are sent end. */
    @Test
    void afterAFailureNoCallBegins() {
        begin(0, 1000 * PIECE, 0, 8, CallResult.SUM, 1);
        callAll();
        for (int i = 0; i < 10; i++) {
            kept.add(made.removeLast());
        }
        end(made.get(3), CallStatus.FAULT, 0, 0);
        assertEquals(MOST - 11, range.underWay());
        assertFalse(range.hasMore());
        assertFalse(range.callNext(-1, MOST));
        end(made.getFirst(), CallStatus.LOST, 0, 0);
        while (!made.isEmpty()) {
            assertFalse(range.isOver());
            done(made.getFirst(), 1);
        }
        finish();
        assertEquals(CallStatus.FAULT, ended.status());
        assertEquals(3 * PIECE, ended.piece());
    }

    /** They stay under way, and fewer others are made until the server has ended some. */
    @Test
    void callsThatAServerHasNoPlaceForWait() {
        begin(0, 20L * MOST * PIECE, 0, 8, CallResult.SUM, 1);
        callAll();
        for (int times = 0; times < 2; times++) {
            for (MadeCall call : made.subList(4, MOST)) {
                assertTrue(range.refused(call.slot()));
            }
        }
        assertEquals(MOST, range.underWay());
        assertFalse(range.isOver());
        for (int i = 1; i < 16; i++) {
            done(made.getFirst(), 1);
            callAll();
            assertEquals(MOST - i, made.size(), "no call is made while the server has more than it takes");
        }
        assertEquals(MOST - 15, range.underWay());
        int least = MOST;
        int most = 0;
        while (range.hasMore() || !made.isEmpty()) {
            callAll();
            if (range.hasMore() && made.size() < least) {
                least = made.size();
                most = least;
            }
            most = Math.max(most, made.size());
            done(made.getLast(), 1);
        }
        finish();
        assertEquals(CallStatus.DONE, ended.status());
        assertEquals(20L * MOST, memory.get(JAVA_LONG, 4096));
        assertTrue(least >= 4 && least < MOST / 4 && least < most, "from " + least + " calls under way to " + most);
    }

    @Test
    void aCallThatIsRefusedForAnotherReasonOrAfterAFailureEnds() {
        begin(0, 2 * PIECE, 0, 8, CallResult.SUM, 1);
        callAll();
        end(made.getFirst(), CallStatus.REFUSED, CallStatus.NO_PROCEDURE, 0);
        assertFalse(range.refused(made.getFirst().slot()));
        end(made.getFirst(), CallStatus.REFUSED, CallStatus.TOO_MANY_CALLS, 0);
        finish();
        assertEquals(CallStatus.REFUSED, ended.status());
        assertEquals(CallStatus.NO_PROCEDURE, ended.code());
    }

    @Test
    void aRangeKeepsToTheCallsThatItMayHaveNow() {
        begin(0, 100 * PIECE, 0, 8, CallResult.SUM, 2);
        int own = RangeCall.OWN_UNDER_WAY;
        for (int i = 0; i < own; i++) {
            assertTrue(range.callNext(-1, own));
        }
        assertFalse(range.callNext(-1, own));
        long first =
                made.stream().filter(call -> call.piece() / REGION % 2 == 0).count();
        assertEquals(own / 2, first, "each server has its share of these");
        assertTrue(range.callNext(-1, own + 1));
        while (range.hasMore() || !made.isEmpty()) {
            callAll();
            done(made.getFirst(), 1);
        }
        finish();
    }

    /** Other calls of it are under way, or none: then it is held. */
    @Test
    void aRangeSaysWhetherItWaitsForARegionThatMoves() {
        begin(0, REGION + PIECE, 0, 8, CallResult.SUM, 1);
        assertTrue(range.hasHeld(1));
        assertFalse(range.isHeld(1), "it can call others");
        while (range.callNext(1, MOST)) {
            assertFalse(range.isHeld(1), "a call is under way");
        }
        while (!made.isEmpty()) {
            done(made.getFirst(), 1);
        }
        assertTrue(range.isHeld(1));
        assertFalse(range.isHeld(-1), "there is only no room");
        assertFalse(range.hasHeld(-1));
        assertFalse(range.hasHeld(0), "all of it is called");
        assertTrue(range.callNext(-1, MOST));
        assertFalse(range.hasHeld(1));
        done(made.getFirst(), 1);
        finish();
    }

    @Test
    void aRangeThatIsAbandonedSaysWhichPieceWasNotCalled() {
        begin(0, 100 * PIECE, 0, 8, CallResult.SUM, 1);
        callAll();
        range.abandon();
        while (!made.isEmpty()) {
            done(made.getFirst(), 1);
        }
        finish();
        assertEquals(CallStatus.REFUSED, ended.status());
        assertEquals(CallStatus.CLOSED, ended.code());
        assertEquals(MOST * PIECE, ended.piece());
        begin(0, 8 * PIECE, 0, 8, CallResult.SUM, 1);
        callAll();
        range.abandon();
        while (!made.isEmpty()) {
            done(made.getFirst(), 1);
        }
        finish();
        assertEquals(CallStatus.DONE, ended.status(), "all calls had been made");
    }

    /** A joiner may call another range, which makes calls of this one, too; they must not use what is being joined. */
    @Test
    void callsThatAreMadeWhileResultsAreJoinedUseOtherSlots() {
        int[] joins = new int[1];
        ResultJoiner calling = (all, at, bytes, laterAt, laterBytes, room) -> {
            callAll();
            joins[0]++;
            return ENDS.join(all, at, bytes, laterAt, laterBytes, room);
        };
        SplittableRandom random = new SplittableRandom(5);
        begin(0, 1000 * PIECE, 0, 16, calling, 3);
        callAll();
        while (!made.isEmpty()) {
            MadeCall call = made.get(random.nextInt(made.size()));
            done(call, call.piece(), call.piece() + call.bytes());
            callAll();
        }
        finish();
        assertEquals(1000 * PIECE, memory.get(JAVA_LONG, 4096 + 8));
        assertEquals(999, joins[0]);
    }
}
