package io.farheap.cache;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.cache.calls.CacheProcedures;
import io.farheap.cache.contract.CallCompletion.RangeCompletion;
import io.farheap.cache.contract.CallResult;
import io.farheap.cache.contract.CallResult.RangeResult;
import io.farheap.cache.contract.CallResult.ResultJoiner;
import io.farheap.procedure.CallStatus;
import io.farheap.server.budget.Budget;
import io.farheap.server.contract.ServedCode;
import io.farheap.testing.Fields;
import io.farheap.testing.PlaneProxy;
import io.farheap.testing.TestDevice;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Calls of the pieces of ranges, on two servers that run procedures. */
@Timeout(300)
class CallRangeTest {

    private static final long REGION = Cluster.REGION_BYTES;
    private static final int REGIONS = 4;
    private static final int RESULT = 1024;

    /** Joins results of {@link TestProcedures.HashOfPiece}. */
    static final ResultJoiner HASHES = (memory, at, bytes, laterAt, laterBytes, room) -> {
        long laterPower = memory.get(JAVA_LONG, laterAt + 8);
        memory.set(JAVA_LONG, at, memory.get(JAVA_LONG, at) * laterPower + memory.get(JAVA_LONG, laterAt));
        memory.set(JAVA_LONG, at + 8, memory.get(JAVA_LONG, at + 8) * laterPower);
        return 16;
    };

    private final Cluster cluster = new Cluster().serving(ServedCode.JAVA);
    private final byte[] content = new byte[(int) (REGIONS * REGION)];
    private Cache cache;
    private Caller caller;
    private CacheSession session;
    private MemorySegment memory;

    /** Lists the pieces of a range that are handed over, and its end. */
    private static final class Pieces implements RangeCompletion {

        final List<Long> addresses = new ArrayList<>();
        final List<RangeResult> ended = new ArrayList<>();

        @Override
        public void completed(long token, int status, int code, int resultBytes) {
            throw new AssertionError("the method without the piece");
        }

        @Override
        public void completed(long token, int status, int code, int resultBytes, long piece, long address, int line) {
            ended.add(new RangeResult(status, code, resultBytes, piece, address, line));
        }

        @Override
        public void pieceCompleted(long token, long piece, long bytes, int code, int resultBytes) {
            addresses.add(piece);
        }

        boolean isDone() {
            return ended.size() == 1 && ended.getFirst().done();
        }
    }

    @BeforeEach
    void create() {
        cluster.add(REGIONS);
        cluster.add(REGIONS);
        cache = cacheOn(cluster);
        caller = new Caller(cache);
        session = caller.session;
        memory = caller.buffer.segment();
    }

    private static Cache cacheOn(Cluster cluster) {
        return Cache.builder()
                .capacity(REGIONS * REGION)
                .servers(cluster.addresses())
                .name("ranges")
                .create();
    }

    @AfterEach
    void close() {
        caller.close();
        cache.close();
        cluster.close();
    }

    private Procedure register(Class<?> procedure, int flags) {
        return cache.procedures().register(procedure, flags);
    }

    private void fill(CacheSession to) {
        new SplittableRandom(11).nextBytes(content);
        to.writeBlocking(0, MemorySegment.ofArray(content));
    }

    private long word(long address) {
        return ByteBuffer.wrap(content).order(ByteOrder.LITTLE_ENDIAN).getLong((int) address);
    }

    /** The end of a range whose results are joined. */
    private RangeResult join(Procedure procedure, long from, long bytes, long piece, ResultJoiner joiner) {
        return session.callRangeBlocking(procedure, from, bytes, piece, caller.buffer, 0, 0, RESULT, 64, joiner);
    }

    private boolean call(Procedure procedure, long from, long bytes, long piece, RangeCompletion done) {
        return session.callRange(procedure, from, bytes, piece, caller.buffer, 0, 32, RESULT, 64, done, 7);
    }

    private void await(BooleanSupplier condition) {
        while (!condition.getAsBoolean()) {
            assertFalse(Thread.interrupted(), "what is waited for does not happen");
            session.poll();
        }
    }

    private static void assertDone(int bytes, RangeResult ended) {
        assertEquals(new RangeResult(CallStatus.DONE, 0, bytes, CallResult.NOWHERE, CallResult.NOWHERE, 0), ended);
    }

    @Test
    void longsAreJoinedOverAllServers() {
        fill(session);
        Procedure sum = register(TestProcedures.SumOfPiece.class, Procedures.READS);
        for (long[] range : new long[][] {
            {0, REGIONS * REGION, 512}, {8, 2 * REGION, 24}, {REGION - 8, 16, 8}, {64, REGION, 10 * REGION}
        }) {
            long least = Long.MAX_VALUE;
            long greatest = Long.MIN_VALUE;
            long all = 0;
            long end = range[0] + range[1];
            for (long at = range[0]; at < end; ) {
                long stop = Math.min(end, Math.min(at + range[2], (at / REGION + 1) * REGION));
                long one = 0;
                for (; at < stop; at += 8) {
                    one += word(at);
                }
                all += one;
                least = Math.min(least, one);
                greatest = Math.max(greatest, one);
            }
            assertDone(8, join(sum, range[0], range[1], range[2], CallResult.SUM));
            assertEquals(all, memory.get(JAVA_LONG, RESULT));
            assertDone(8, join(sum, range[0], range[1], range[2], CallResult.LEAST));
            assertEquals(least, memory.get(JAVA_LONG, RESULT));
            assertDone(8, join(sum, range[0], range[1], range[2], CallResult.GREATEST));
            assertEquals(greatest, memory.get(JAVA_LONG, RESULT));
        }
        assertEquals(0, session.pending());
    }

    /** At any address, in pieces of any length; also if one server runs no procedures. */
    @Test
    void resultsAreJoinedInOrder() {
        fill(session);
        SplittableRandom random = new SplittableRandom(12);
        assertJoined(cache, random, 12, REGIONS * REGION);
        try (Cluster mixed = new Cluster().serving(ServedCode.JAVA)) {
            mixed.add(REGIONS);
            mixed.serving(ServedCode.OFF).add(REGIONS);
            try (Cache other = cacheOn(mixed);
                    CacheSession its = other.openSession()) {
                fill(its);
                assertJoined(other, random, 4, REGION / 16);
            }
        }
    }

    private void assertJoined(Cache of, SplittableRandom random, int rounds, long most) {
        Procedure hash = of.procedures().register(TestProcedures.HashOfPiece.class, Procedures.READS);
        try (Caller its = new Caller(of)) {
            for (int round = 0; round < rounds; round++) {
                long bytes = random.nextLong(1, most);
                // The pieces of a small range are on both sides of a region's end.
                long from = most < REGION ? REGION - bytes / 2 : random.nextLong(content.length - bytes);
                long piece = random.nextLong(Math.max(1, bytes / 300), bytes + 1);
                assertDone(
                        16, its.session.callRangeBlocking(hash, from, bytes, piece, its.buffer, 0, 0, 64, 16, HASHES));
                long expected = 0;
                for (long at = from; at < from + bytes; at++) {
                    expected = 31 * expected + content[(int) at];
                }
                assertEquals(expected, its.result(), bytes + " bytes from " + from + " in pieces of " + piece);
            }
        }
    }

    @Test
    void eachResultIsHandedOver() {
        fill(session);
        Procedure sum = register(TestProcedures.SumOfPiece.class, Procedures.READS);
        long from = REGION / 2;
        long bytes = 2 * REGION;
        boolean[] seen = new boolean[content.length];
        int[] ended = new int[1];
        RangeCompletion done = new RangeCompletion() {

            @Override
            public void completed(long token, int status, int code, int resultBytes) {
                assertEquals(7, token);
                assertEquals(CallStatus.DONE, status);
                ended[0]++;
            }

            @Override
            public void pieceCompleted(long token, long piece, long length, int code, int resultBytes) {
                assertEquals(7, token);
                assertEquals(0, ended[0], "the range ends last");
                assertEquals(length / 8, code);
                assertEquals(8, resultBytes);
                long expected = 0;
                for (long at = piece; at < piece + length; at += 8) {
                    assertFalse(seen[(int) at]);
                    seen[(int) at] = true;
                    expected += word(at);
                }
                assertEquals(expected, memory.get(JAVA_LONG, RESULT));
            }
        };
        assertTrue(call(sum, from, bytes, 1000, done));
        session.drain();
        assertEquals(1, ended[0]);
        for (long at = from; at < from + bytes; at += 8) {
            assertTrue(seen[(int) at], "no piece has " + at);
        }
    }

    @Test
    void whatMakesNoSenseIsRefused() {
        Procedure sum = register(TestProcedures.SumOfPiece.class, Procedures.READS);
        RangeCompletion done = (token, status, code, bytes) -> {};
        assertRefused(IndexOutOfBoundsException.class, "0 bytes at address 8", () -> call(sum, 8, 0, 8, done));
        assertRefused(IndexOutOfBoundsException.class, "at address -8", () -> call(sum, -8, 16, 8, done));
        assertRefused(
                IndexOutOfBoundsException.class,
                "the cache has " + REGIONS * REGION,
                () -> call(sum, 8, REGIONS * REGION, 8, done));
        assertRefused(
                IndexOutOfBoundsException.class,
                Long.MAX_VALUE + " bytes",
                () -> call(sum, 8, Long.MAX_VALUE, 8, done));
        assertRefused(IllegalArgumentException.class, "pieces of 0 bytes", () -> call(sum, 0, 8, 0, done));
        Buffer buffer = caller.buffer;
        assertRefused(
                IllegalArgumentException.class,
                "4081 bytes of arguments",
                () -> session.callRange(sum, 0, 8, 8, buffer, 0, 4081, 4096, 8, done, 0));
        assertRefused(
                IllegalArgumentException.class,
                "-1 bytes of arguments",
                () -> session.callRange(sum, 0, 8, 8, buffer, 0, -1, 4096, 8, done, 0));
        assertRefused(
                IllegalArgumentException.class,
                "4097 for the result",
                () -> session.callRange(sum, 0, 8, 8, buffer, 0, 0, 4000, 4097, done, 0));
        assertRefused(
                IllegalArgumentException.class,
                "put it elsewhere",
                () -> session.callRange(sum, 0, 8, 8, buffer, 0, 16, 8, 8, done, 0));
        assertTrue(session.callRange(sum, 0, 8, 8, buffer, 4, 0, 0, 8, done, 0), "there are no further arguments");
        session.drain();
        assertRefused(
                IndexOutOfBoundsException.class,
                "of a buffer of 8192",
                () -> session.callRange(sum, 0, 8, 8, buffer, 0, 0, 8190, 8, done, 0));
        cache.procedures().unregister(sum);
        assertRefused(IllegalArgumentException.class, "not registered", () -> call(sum, 0, 8, 8, done));
        assertEquals(0, session.pending());
    }

    private static void assertRefused(Class<? extends Exception> how, String why, BooleanSupplier call) {
        Exception refused = assertThrows(how, call::getAsBoolean);
        assertTrue(String.valueOf(refused.getMessage()).contains(why), refused::getMessage);
    }

    /** A range is one request, whose footprint is the range, also those parts of it that are not called yet. */
    @Test
    void aRangeAndOtherRequestsTakeEffectInOrder() {
        Procedure add = register(TestProcedures.AddToPiece.class, Procedures.WRITES);
        Procedure sum = register(TestProcedures.SumOfPiece.class, Procedures.READS);
        Procedure load = register(TestProcedures.Load.class, Procedures.READS);
        memory.set(JAVA_LONG, 0, 5);
        long last = 3 * REGION - 8;
        memory.set(JAVA_LONG, 2048, 1000);
        int[] read = new int[1];
        assertTrue(session.write(last, caller.buffer, 2048, 8, (token, status) -> read[0]++, 0));
        Pieces added = new Pieces();
        await(() -> call(add, 0, 3 * REGION, 64, added));
        assertFalse(session.read(last, caller.buffer, 2048, 8, (token, status) -> {}, 0), "the range writes it");
        assertFalse(call(sum, last, 8, 8, added));
        assertFalse(
                session.call(load, last, last, 8, caller.buffer, 64, 8, 128, 8, (token, status, code, bytes) -> {}, 0));
        assertTrue(session.read(3 * REGION, caller.buffer, 2056, 8, (token, status) -> read[0]++, 0), "beyond it");
        assertTrue(added.ended.isEmpty());
        await(() -> session.read(last, caller.buffer, 2048, 8, (token, status) -> read[0]++, 0));
        assertTrue(added.isDone());
        session.drain();
        assertEquals(3, read[0]);
        assertEquals(1005, memory.get(JAVA_LONG, 2048));
        // Two that read do not wait for each other.
        Pieces one = new Pieces();
        Pieces other = new Pieces();
        assertTrue(call(sum, 0, REGION, 64, one));
        assertTrue(call(sum, 0, REGION, 64, other));
        assertTrue(session.read(0, caller.buffer, 2048, 8, (token, status) -> {}, 0));
        assertFalse(session.write(0, caller.buffer, 2048, 8, (token, status) -> {}, 0));
        session.drain();
        assertTrue(one.isDone() && other.isDone());
    }

    @Test
    void aSessionHasFourRanges() {
        Procedure sum = register(TestProcedures.SumOfPiece.class, Procedures.READS);
        List<Pieces> all = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            Pieces pieces = new Pieces();
            assertTrue(call(sum, i * REGION, REGION, 128, pieces));
            all.add(pieces);
        }
        Pieces fifth = new Pieces();
        assertFalse(call(sum, 0, REGION, 128, fifth));
        assertEquals(4 + 64 + 3 * 16, session.pending(), "the first has 64, and each of the others some of its own");
        assertThrows(IllegalStateException.class, caller.buffer::close);
        await(() -> call(sum, 0, REGION, 128, fifth));
        session.drain();
        all.add(fifth);
        for (Pieces pieces : all) {
            assertTrue(pieces.isDone());
            assertEquals(REGION / 128, pieces.addresses.stream().distinct().count());
            assertEquals(REGION / 128, pieces.addresses.size());
        }
        assertEquals(0, session.pending());
    }

    @Test
    void afterAFailureNoPieceBegins() {
        Procedure trap = register(TestProcedures.TrapInPiece.class, Procedures.WRITES);
        assertTraps(trap, TestProcedures.TrapInPiece.DIVIDE, CallStatus.FAULT);
        assertTraps(trap, TestProcedures.TrapInPiece.LEAVE, CallStatus.OUT_OF_RANGE);
        assertTraps(trap, TestProcedures.TrapInPiece.OVERFLOW, CallStatus.RESULT_FULL);
        assertTraps(trap, TestProcedures.TrapInPiece.SPIN, CallStatus.OUT_OF_FUEL);
    }

    private void assertTraps(Procedure trap, int kind, int status) {
        session.writeBlocking(0, MemorySegment.ofArray(new byte[content.length]));
        long piece = 64;
        memory.set(JAVA_LONG, 0, piece + 8);
        memory.set(JAVA_LONG, 8, kind);
        Pieces pieces = new Pieces();
        assertTrue(session.callRange(trap, 0, content.length, piece, caller.buffer, 0, 16, RESULT, 8, pieces, 0));
        // Each poll takes answers, and makes calls after that if none of the answers is a failure. So the number of
        // calls that have been made grows until the poll that takes the failure, and no call is made after it.
        int made = session.pending() - 1;
        boolean failed = false;
        while (pieces.ended.isEmpty()) {
            assertFalse(Thread.interrupted(), "the range does not end");
            session.poll();
            int now = pieces.addresses.size() + session.pending() - 1;
            failed |= now < made;
            made = failed ? made : now;
        }
        RangeResult ended = pieces.ended.getFirst();
        assertEquals(CallStatus.describe(status), CallStatus.describe(ended.status()));
        assertEquals(piece, ended.piece());
        assertTrue(ended.line() > 0 || status == CallStatus.RESULT_FULL, ended::describe);
        assertTrue(ended.describe().endsWith(", in the piece that begins at 64"), ended::describe);
        assertEquals(0, ended.bytes());
        session.readBlocking(0, MemorySegment.ofArray(content));
        int called = 0;
        for (long at = 0; at < content.length; at += piece) {
            called += content[(int) at];
        }
        assertEquals(0, content[(int) piece]);
        assertEquals(pieces.addresses.size(), called);
        assertTrue(called < made, called + " pieces were called, of " + made + " before the failure was known");
        assertEquals(0, session.pending());
    }

    /** The server lends no memory for more calls: the range's others wait, and nothing counts them as ended. */
    @Test
    void aRangeEndsAtAServerThatTakesOneLongCallAtATime() {
        int count = 200;
        try (Cluster full = new Cluster().serving(ServedCode.JAVA).threads(1)) {
            full.add(REGIONS);
            try (Cache other = cacheOn(full);
                    Caller its = new Caller(other)) {
                Procedure spin = other.procedures().register(TestProcedures.SpinInPiece.class, Procedures.READS);
                its.buffer.segment().set(JAVA_LONG, 0, 1);
                assertDone(8, its.session.callRangeBlocking(spin, 0, 8, 8, its.buffer, 0, 8, 64, 8, CallResult.SUM));
                its.buffer.segment().set(JAVA_LONG, 0, 500_000);
                Pieces pieces = new Pieces();
                int polled = 0;
                try (Budget.Loan _ = full.lendAllOfProcedures(0)) {
                    assertTrue(its.session.callRange(
                            spin, 0, 8 * count, 8, its.buffer, 0, 8, 64, 8, CallResult.SUM, pieces, 0));
                    while (its.session.pending() > 0) {
                        assertFalse(Thread.interrupted(), "the range does not end");
                        polled += its.session.poll();
                    }
                }
                assertTrue(pieces.isDone(), () -> pieces.ended.getFirst().describe());
                assertEquals(count, its.result());
                assertEquals(count + 1, polled, "each call that ends counts, and the range");
                assertEquals(0, other.callCounts().byStatus()[CallStatus.REFUSED]);
                long refused = full.status(0).counters().get("procedures.calls.refused");
                assertTrue(refused > 0, "the server has refused none");
            }
        }
    }

    /** All calls of the first wait for a server that does not connect. */
    @Test
    void aRangeAtOneServerDoesNotKeepAnotherFromTheOthers() {
        AtomicBoolean halts = new AtomicBoolean();
        CountDownLatch connects = new CountDownLatch(1);
        try (Cluster halting = new Cluster().serving(ServedCode.JAVA).threads(1)) {
            halting.behind(server -> PlaneProxy.around(server, (method, arguments, rest) -> {
                        if (halts.get() && method.equals("connectRing")) {
                            connects.await();
                        }
                        return rest.call();
                    }))
                    .add(REGIONS);
            halting.behind(UnaryOperator.identity()).add(REGIONS);
            try (Cache other = cacheOn(halting);
                    Caller its = new Caller(other)) {
                Procedure sum = other.procedures().register(TestProcedures.SumOfPiece.class, Procedures.READS);
                long halted = regionAt(other, halting.address(0)) * REGION;
                long healthy = regionAt(other, halting.address(1)) * REGION;
                halts.set(true);
                Pieces first = new Pieces();
                Pieces second = new Pieces();
                assertTrue(its.session.callRange(sum, halted, REGION, 64, its.buffer, 0, 0, 64, 8, first, 0));
                assertTrue(its.session.callRange(sum, healthy, REGION, 64, its.buffer, 0, 0, 64, 8, second, 0));
                while (second.ended.isEmpty()) {
                    assertTrue(first.ended.isEmpty(), "the first has ended, and the second has not");
                    assertFalse(Thread.interrupted(), "the second does not end");
                    its.session.poll();
                }
                assertTrue(second.isDone());
                assertTrue(first.addresses.isEmpty());
                connects.countDown();
                its.session.drain();
                assertEquals(1, first.ended.size());
            } finally {
                connects.countDown();
            }
        }
    }

    private static int regionAt(Cache of, String server) {
        for (int region = 0; region < REGIONS; region++) {
            if (of.serverOf(region).equals(server)) {
                return region;
            }
        }
        throw new AssertionError("no region is on " + server);
    }

    /** The request that {@code ordered} issues is the earlier one, so the range waits for it. */
    @Test
    void aJoinerThatIssuesARequestIsAskedFirst() {
        Procedure sum = register(TestProcedures.SumOfPiece.class, Procedures.READS);
        Procedure add = register(TestProcedures.AddToPiece.class, Procedures.WRITES);
        memory.set(JAVA_LONG, 0, 5);
        boolean[] issued = new boolean[1];
        ResultJoiner issuing = new ResultJoiner() {

            @Override
            public int join(MemorySegment results, long at, int bytes, long laterAt, int laterBytes, int room) {
                return CallResult.SUM.join(results, at, bytes, laterAt, laterBytes, room);
            }

            @Override
            public boolean ordered() {
                if (!issued[0]) {
                    issued[0] = true;
                    assertTrue(call(add, 0, REGION, 512, new Pieces()));
                }
                return false;
            }
        };
        Pieces pieces = new Pieces();
        assertFalse(session.callRange(sum, 0, REGION, 512, caller.buffer, 0, 0, RESULT, 8, issuing, pieces, 0));
        await(() -> session.callRange(sum, 0, REGION, 512, caller.buffer, 0, 0, RESULT, 8, issuing, pieces, 0));
        session.drain();
        assertTrue(pieces.isDone());
        assertEquals(5 * REGION / 8, memory.get(JAVA_LONG, RESULT));
    }

    @Test
    void aRangeContinuesAfterACallbackThatThrows() {
        Procedure sum = register(TestProcedures.SumOfPiece.class, Procedures.READS);
        Pieces pieces = new Pieces();
        RangeCompletion throwing = new RangeCompletion() {

            @Override
            public void completed(long token, int status, int code, int resultBytes) {
                pieces.ended.add(new RangeResult(status, code, resultBytes, CallResult.NOWHERE, CallResult.NOWHERE, 0));
                throw new IllegalStateException("on purpose");
            }

            @Override
            public void pieceCompleted(long token, long piece, long bytes, int code, int resultBytes) {
                pieces.addresses.add(piece);
                throw new IllegalStateException("on purpose");
            }
        };
        int count = 200;
        assertTrue(call(sum, 0, 512 * count, 512, throwing));
        int thrown = 0;
        while (session.pending() > 0) {
            try {
                session.poll();
            } catch (IllegalStateException e) {
                assertEquals("on purpose", e.getMessage());
                thrown++;
            }
        }
        assertTrue(pieces.isDone());
        assertEquals(count, pieces.addresses.stream().distinct().count());
        assertEquals(count, pieces.addresses.size());
        assertEquals(count + 1, thrown);
    }

    @Test
    void aJoinerThatThrowsEndsItsRangeAlone() {
        Procedure sum = register(TestProcedures.SumOfPiece.class, Procedures.READS);
        ResultJoiner throwing = (results, at, bytes, laterAt, laterBytes, room) -> {
            throw new IllegalStateException("on purpose");
        };
        Pieces ended = new Pieces();
        assertTrue(session.callRange(sum, 0, REGION, 64, caller.buffer, 0, 0, RESULT, 8, throwing, ended, 0));
        int thrown = 0;
        while (session.pending() > 0) {
            try {
                session.poll();
            } catch (IllegalStateException e) {
                thrown++;
            }
        }
        assertEquals(1, thrown);
        assertEquals(CallStatus.INCOMPLETE, ended.ended.getFirst().status());
        assertEquals(CallStatus.NOT_JOINED, ended.ended.getFirst().code());
        IllegalStateException late =
                assertThrows(IllegalStateException.class, () -> join(sum, 0, REGION, 64, throwing));
        assertEquals("on purpose", late.getMessage());
        assertEquals(0, session.pending(), "the range has ended before its exception is thrown");
        assertDone(8, join(sum, 0, REGION, 64, CallResult.SUM));
    }

    /** A callback may call, also further ranges, and may not poll. */
    @Test
    void aCallbackCallsAndDoesNotPoll() {
        Procedure sum = register(TestProcedures.SumOfPiece.class, Procedures.READS | Procedures.UNORDERED);
        Pieces second = new Pieces();
        int[] refused = new int[1];
        int[] called = new int[1];
        RangeCompletion first = new RangeCompletion() {

            @Override
            public void completed(long token, int status, int code, int resultBytes) {
                assertTrue(call(sum, 0, REGION, 64, second));
            }

            @Override
            public void pieceCompleted(long token, long piece, long bytes, int code, int resultBytes) {
                assertThrows(IllegalStateException.class, session::poll);
                assertThrows(IllegalStateException.class, session::drain);
                refused[0]++;
                if (session.call(
                        sum,
                        0,
                        0,
                        64,
                        caller.buffer,
                        2048,
                        16,
                        2064,
                        8,
                        (_, status, _, _) -> {
                            assertEquals(CallStatus.DONE, status);
                            called[0]--;
                        },
                        0)) {
                    called[0]++;
                }
            }
        };
        memory.set(JAVA_LONG, 2048, 0);
        memory.set(JAVA_LONG, 2056, 64);
        assertTrue(call(sum, 0, 2 * REGION, 1024, first));
        session.drain();
        assertEquals(2 * REGION / 1024, refused[0]);
        assertEquals(0, called[0]);
        assertTrue(second.isDone());
        assertEquals(REGION / 64, second.addresses.size());
    }

    @Test
    void aSessionThatClosesEndsItsRanges() {
        Procedure sum = register(TestProcedures.SumOfPiece.class, Procedures.READS);
        Pieces pieces = new Pieces();
        Pieces small = new Pieces();
        try (CacheSession closing = cache.openSession()) {
            assertTrue(closing.callRange(sum, 0, 8 * 8, 8, caller.buffer, 0, 0, RESULT, 8, small, 0));
            assertTrue(closing.callRange(sum, 0, REGIONS * REGION, 64, caller.buffer, 0, 0, RESULT, 8, pieces, 0));
        }
        assertEquals(CallStatus.REFUSED, pieces.ended.getFirst().status());
        assertEquals(CallStatus.CLOSED, pieces.ended.getFirst().code());
        assertNotEquals(CallResult.NOWHERE, pieces.ended.getFirst().piece());
        assertTrue(pieces.addresses.size() <= 64);
        assertEquals(1, pieces.ended.size());
        assertEquals(1, small.ended.size());
        session.drain();
    }

    /** The calls under way end as usual; those that servers would refuse run in the session. */
    @Test
    void aRangeEndsAlthoughItsProcedureIsUnregistered() {
        fill(session);
        Procedure sum = register(TestProcedures.SumOfPiece.class, Procedures.READS);
        join(sum, 0, 4096, 64, CallResult.SUM);
        Pieces pieces = new Pieces();
        assertTrue(call(sum, 0, REGION, 256, pieces));
        cache.procedures().unregister(sum);
        session.drain();
        RangeResult ended = pieces.ended.getFirst();
        assertTrue(
                ended.done() || ended.status() == CallStatus.REFUSED && ended.code() == CallStatus.NO_PROCEDURE,
                ended::describe);
        if (ended.done()) {
            assertEquals(REGION / 256, pieces.addresses.size());
        }
    }

    /** The calls of other regions are made meanwhile, and those of the region that moves when it has moved. */
    @Test
    void aRangeWaitsForARegionThatMoves() {
        Procedure add = register(TestProcedures.AddToPiece.class, Procedures.WRITES);
        CacheProcedures procedures = Fields.get(cache, "procedures", CacheProcedures.class);
        memory.set(JAVA_LONG, 0, 3);
        Pieces pieces = new Pieces();
        int inAll = (int) (REGIONS * REGION / 1024);
        procedures.moving(1, () -> {
            assertTrue(call(add, 0, REGIONS * REGION, 1024, pieces));
            await(() -> pieces.addresses.size() == inAll - REGION / 1024);
            session.poll();
            assertEquals(1, session.pending());
            assertEquals(1, session.held());
            assertTrue(pieces.addresses.stream().noneMatch(piece -> piece / REGION == 1));
            return true;
        });
        session.drain();
        assertTrue(pieces.isDone());
        assertEquals(inAll, pieces.addresses.stream().distinct().count());
        for (long at : new long[] {0, REGION, 2 * REGION - 8, REGIONS * REGION - 8}) {
            assertEquals(3, caller.read(at));
        }
    }

    @Test
    void aLostRegionEndsTheRange() throws InterruptedException {
        CountDownLatch gone = new CountDownLatch(1);
        try (Cluster leased = new Cluster().serving(ServedCode.JAVA)) {
            leased.add(1);
            leased.add(1, TestDevice.shortLease(1_000_000_000L));
            try (Cache other = Cache.builder()
                            .capacity(2 * REGION)
                            .servers(leased.addresses())
                            .onLost((server, why, regions) -> gone.countDown())
                            .create();
                    Caller its = new Caller(other)) {
                Procedure add = other.procedures().register(TestProcedures.AddToPiece.class, Procedures.WRITES);
                its.arguments(1);
                assertTrue(its.session
                        .callRangeBlocking(add, 0, 2 * REGION, 1024, its.buffer, 0, 8, 64, 8, CallResult.SUM)
                        .done());
                assertEquals(2 * REGION / 8, its.result());
                leased.stop(1);
                assertTrue(gone.await(TestDevice.patience(60), TimeUnit.SECONDS), "the server is lost");
                RangeResult lost = its.session.callRangeBlocking(
                        add, 0, 2 * REGION, 1024, its.buffer, 0, 8, 64, 8, CallResult.SUM);
                assertEquals(CallStatus.describe(CallStatus.UNREACHABLE), CallStatus.describe(lost.status()));
                assertEquals(1, lost.piece() / REGION);
                assertTrue(its.session
                        .callRangeBlocking(add, 0, REGION, 1024, its.buffer, 0, 8, 64, 8, CallResult.SUM)
                        .done());
            }
        }
    }
}
