package io.farheap.remote;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.remote.contract.Outcome;
import io.farheap.remote.contract.PostResult;
import io.farheap.remote.contract.RemoteRegion;
import io.farheap.remote.contract.RemoteServer;
import io.farheap.rpc.Arguments;
import io.farheap.rpc.HeldRegions;
import io.farheap.rpc.PendingCall;
import io.farheap.rpc.Reply;
import io.farheap.rpc.RpcHandler;
import io.farheap.rpc.RpcHandlers;
import io.farheap.testing.Effort;
import io.farheap.testing.TestDevice;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.ToLongBiFunction;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Calls and their replies, and their outcomes if handlers, servers or callers make mistakes. */
class RpcQueueTest {

    private static final int ECHO = 0;
    private static final int ADD = 1;
    private static final int THROW = 2;
    private static final int LATER = 3;
    private static final int TOO_LONG = 4;
    private static final int LATER_THEN_THROW = 5;
    private static final int LATER_WITHOUT = 6;
    private static final int LATER_AND_REPLY = 7;
    private static final int TOUCH_THROWS = 8;
    private static final int TOUCH_BEYOND = 9;
    private static final int NONE = RpcHandlers.MOST - 1;

    private static final int BATCHES = 4;
    private static final int BATCH = 4;
    private static final int RECORD = 64;
    private static final int CALLS = BATCHES * BATCH;
    private static final RpcOptions OPTIONS = new RpcOptions(BATCHES, BATCH, RECORD, 1, 172);
    /** Long enough that a test fails if a sleep is not ended by a wake-up. */
    private static final long SLEEP_NANOS = TimeUnit.SECONDS.toNanos(300);

    private record Ended(int outcome, int bytes) {}

    private final TestServers servers = new TestServers(2, 2);
    private final RemoteMemory memory = RemoteMemory.open(TestDevice.client(), "calls");
    private final List<RemoteServer> attached = new ArrayList<>();
    private final BlockingQueue<PendingCall> pending = new LinkedBlockingQueue<>();
    private final Map<Long, Ended> ended = new HashMap<>();
    private RegisteredBuffer buffer;
    private RpcQueue queue;

    @BeforeEach
    void open() {
        servers.register(ECHO, (held, arguments, reply) -> {
            reply.setBytes(0, arguments.segment(), 0, arguments.bytes());
            return arguments.bytes();
        });
        servers.register(ADD, (held, arguments, reply) -> {
            MemorySegment region = held.region(arguments.getInt(0));
            long before = region.get(JAVA_LONG, arguments.getLong(8));
            region.set(JAVA_LONG, arguments.getLong(8), before + arguments.getLong(16));
            reply.setLong(0, before);
            return Long.BYTES;
        });
        servers.register(THROW, (held, arguments, reply) -> {
            throw new AssertionError("a handler that fails");
        });
        servers.register(LATER, (held, arguments, reply) -> {
            pending.add(reply.later());
            return RpcHandler.LATER;
        });
        servers.register(TOO_LONG, (held, arguments, reply) -> reply.capacity() + 1);
        servers.register(LATER_THEN_THROW, (held, arguments, reply) -> {
            // The handler answers and then throws: the server must send only one of the two.
            reply.later().answer(arguments.segment());
            throw new IllegalStateException("a handler that fails, having answered");
        });
        servers.register(LATER_WITHOUT, (held, arguments, reply) -> RpcHandler.LATER);
        servers.register(LATER_AND_REPLY, (held, arguments, reply) -> {
            pending.add(reply.later());
            return 0;
        });
        servers.register(TOUCH_THROWS, touching((held, arguments) -> arguments.getLong(RECORD)));
        servers.register(TOUCH_BEYOND, touching((held, arguments) -> 1L << 60));
        for (int i = 0; i < servers.count(); i++) {
            attached.add(memory.attach(servers.address(i)));
        }
        buffer = memory.register(1 << 16);
        queue = memory.openRpcQueue(OPTIONS);
    }

    private static RpcHandler touching(ToLongBiFunction<HeldRegions, Arguments> where) {
        return new RpcHandler() {
            @Override
            public long touch(HeldRegions held, Arguments arguments) {
                return where.applyAsLong(held, arguments);
            }

            @Override
            public int execute(HeldRegions held, Arguments arguments, Reply reply) {
                return 0;
            }
        };
    }

    @AfterEach
    void close() {
        memory.close();
        servers.close();
    }

    private void await(int count) {
        long deadline = System.nanoTime() + SLEEP_NANOS;
        while (ended.size() < count) {
            poll();
            if (ended.size() < count) {
                queue.await(SLEEP_NANOS);
            }
            assertTrue(System.nanoTime() - deadline < 0, () -> "only " + ended + " came back");
        }
    }

    private void poll() {
        queue.poll((tag, outcome, bytes) -> {
            Ended before = ended.put(tag, new Ended(outcome, bytes));
            assertEquals(null, before, () -> "tag " + tag + " came back twice");
        });
    }

    /** A call whose arguments and reply are in the tag's own place of the buffer. */
    private int call(int server, int operation, int bytes, long tag) {
        return queue.call(
                attached.get(server), operation, buffer, tag * 2 * RECORD, bytes, (tag * 2 + 1) * RECORD, RECORD, tag);
    }

    private void mustCall(int server, int operation, int bytes, long tag) {
        assertEquals(PostResult.OK, call(server, operation, bytes, tag));
    }

    private MemorySegment arguments(long tag, int bytes) {
        return buffer.segment().asSlice(tag * 2 * RECORD, bytes);
    }

    private MemorySegment reply(long tag, int bytes) {
        return buffer.segment().asSlice((tag * 2 + 1) * RECORD, bytes);
    }

    @Test
    void repliesAreWhatWasAskedFor() {
        long seed = System.nanoTime();
        System.out.println("calls of seed " + seed);
        SplittableRandom random = new SplittableRandom(seed);
        for (int round = 0; round < Effort.count(300); round++) {
            ended.clear();
            int calls = 1 + random.nextInt(CALLS);
            int[] lengths = random.ints(calls, 0, RECORD + 1).toArray();
            int made = 0;
            for (int i = 0; i < calls; i++) {
                for (int at = 0; at < lengths[i]; at++) {
                    arguments(i, RECORD).set(JAVA_BYTE, at, (byte) random.nextInt());
                }
                int server = random.nextInt(2);
                while (call(server, ECHO, lengths[i], i) == PostResult.FULL) {
                    poll();
                }
                made++;
                if (random.nextInt(4) == 0) {
                    queue.send();
                }
            }
            await(made);
            for (int i = 0; i < made; i++) {
                assertEquals(new Ended(Outcome.DONE, lengths[i]), ended.get((long) i));
                assertEquals(
                        -1,
                        arguments(i, lengths[i]).mismatch(reply(i, lengths[i])),
                        "reply " + i + " in round " + round);
            }
        }
        assertEquals(0, queue.underWay());
    }

    @Test
    void aHandlerChangesItsClientsRegionsAndNoOther() {
        RemoteRegion mine = memory.allocate(attached.get(0), 1).getFirst();
        try (RemoteMemory stranger = RemoteMemory.open(TestDevice.client(), "stranger")) {
            RemoteRegion others =
                    stranger.allocate(stranger.attach(servers.address(0)), 1).getFirst();
            int[] regions = {mine.regionId(), others.regionId(), -1, 1 << 20};
            for (int i = 0; i < regions.length; i++) {
                arguments(i, RECORD).set(JAVA_LONG, 0, regions[i]);
                arguments(i, RECORD).set(JAVA_LONG, 8, 128);
                arguments(i, RECORD).set(JAVA_LONG, 16, 5);
                mustCall(0, ADD, 24, i);
            }
            await(regions.length);
            assertEquals(new Ended(Outcome.DONE, 8), ended.get(0L));
            for (long tag = 1; tag < regions.length; tag++) {
                assertEquals(new Ended(Outcome.NOT_HELD, 0), ended.get(tag));
            }
        }
        // One-sided READs see the value that the handler has stored.
        try (RemoteQueue reads = memory.openQueue(QueueOptions.DEFAULT)) {
            reads.read(mine, 128, buffer, 0, 8, 1);
            new Tags().await(reads, 1);
        }
        assertEquals(5, buffer.segment().get(JAVA_LONG, 0));
    }

    static Stream<Integer> failing() {
        return Effort.variants(
                8,
                THROW,
                TOO_LONG,
                LATER_THEN_THROW,
                LATER_WITHOUT,
                TOUCH_THROWS,
                TOUCH_BEYOND,
                NONE,
                Integer.MIN_VALUE,
                -1,
                RpcHandlers.MOST);
    }

    @ParameterizedTest
    @MethodSource("failing")
    void whatFailsEndsOneCallAlone(int operation) {
        int expected = operation >= 0 && operation < NONE ? Outcome.FAILED : Outcome.NO_OPERATION;
        for (int round = 0; round < Effort.either(5, 20); round++) {
            ended.clear();
            for (long tag = 0; tag < BATCH; tag++) {
                mustCall(0, tag == 2 ? operation : ECHO, 9, tag);
            }
            await(BATCH);
            for (long tag = 0; tag < BATCH; tag++) {
                assertEquals(
                        tag == 2 ? new Ended(expected, 0) : new Ended(Outcome.DONE, 9), ended.get(tag), "call " + tag);
            }
        }
        assertTrue(queue.connected(attached.get(0)));
    }

    static Stream<Integer> failingInPlace() {
        return Effort.variants(2, THROW, TOUCH_BEYOND, NONE, TOUCH_THROWS);
    }

    /** A later call uses the place of a failed call, in which nothing of the failure may remain. */
    @ParameterizedTest
    @MethodSource("failingInPlace")
    void whatHasFailedLeavesNoTraceInItsPlace(int operation) {
        mustCall(0, operation, 9, 0);
        await(1);
        for (int round = 0; round < Effort.either(3, 10) * BATCHES; round++) {
            ended.clear();
            for (long tag = 0; tag < BATCH; tag++) {
                mustCall(0, ECHO, 9, tag);
            }
            await(BATCH);
            assertTrue(ended.values().stream().allMatch(new Ended(Outcome.DONE, 9)::equals), () -> "got " + ended);
        }
    }

    static Stream<Integer> batches() {
        return Effort.variants(2, 1, BATCHES, 2);
    }

    @ParameterizedTest
    @MethodSource("batches")
    void anExceptionOfTheReplyHandlerLosesNoPlace(int batches) {
        queue.close();
        queue = memory.openRpcQueue(OPTIONS.with(batches, 2));
        for (int round = 0; round < Effort.either(20, 50); round++) {
            ended.clear();
            int calls = 1 + round % (2 * batches);
            for (long tag = 0; tag < calls; tag++) {
                int posting = call(0, ECHO, 8, tag);
                assertEquals(PostResult.OK, posting, PostResult.describe(posting) + " in round " + round);
            }
            while (ended.size() < calls) {
                try {
                    queue.poll((tag, outcome, bytes) -> {
                        ended.put(tag, new Ended(outcome, bytes));
                        throw new IllegalStateException("a handler that fails");
                    });
                } catch (IllegalStateException e) {
                    assertEquals("a handler that fails", e.getMessage());
                }
            }
            poll();
        }
    }

    @Test
    void whatAHandlerKeepsIsOfNoUseLater() throws InterruptedException {
        BlockingQueue<io.farheap.rpc.Reply> kept = new LinkedBlockingQueue<>();
        BlockingQueue<io.farheap.rpc.Arguments> read = new LinkedBlockingQueue<>();
        servers.register(20, (held, arguments, reply) -> {
            kept.add(reply);
            read.add(arguments);
            return 0;
        });
        mustCall(0, 20, 8, 0);
        await(1);
        io.farheap.rpc.Reply reply = kept.take();
        assertThrows(IndexOutOfBoundsException.class, () -> reply.setLong(0, 1));
        assertEquals(0, reply.segment().byteSize());
        assertThrows(IllegalStateException.class, reply::later);
        assertThrows(IndexOutOfBoundsException.class, () -> read.take().getLong(0));
    }

    /** The thread is the server's: it serves other clients, too, and its idle rounds look at the interrupt flag. */
    @Test
    void aHandlerThatInterruptsItsThreadEndsNothing() {
        servers.register(21, (held, arguments, reply) -> {
            Thread.currentThread().interrupt();
            return 0;
        });
        for (int call = 0; call < 20; call++) {
            mustCall(0, 21, 8, 2L * call);
            await(2 * call + 1);
            mustCall(0, ECHO, 8, 2L * call + 1);
            await(2 * call + 2);
            assertEquals(new Ended(Outcome.DONE, 8), ended.get(2L * call + 1));
        }
    }

    @Test
    void argumentsThatEndEarlyFailTheirCall() {
        mustCall(0, ADD, 3, 0);
        mustCall(0, ECHO, 3, 1);
        await(2);
        assertEquals(new Ended(Outcome.FAILED, 0), ended.get(0L));
        assertEquals(new Ended(Outcome.DONE, 3), ended.get(1L));
    }

    private PendingCall nextPending() throws InterruptedException {
        PendingCall call = null;
        long deadline = System.nanoTime() + SLEEP_NANOS;
        while (call == null && System.nanoTime() - deadline < 0) {
            poll();
            call = pending.poll(1, TimeUnit.MILLISECONDS);
        }
        assertNotNull(call, "a call did not reach its handler");
        return call;
    }

    @Test
    void answersThatComeLaterComeAsTheyAreGiven() throws InterruptedException {
        for (long tag = 0; tag < BATCH; tag++) {
            mustCall(0, tag % 2 == 0 ? LATER : ECHO, 8, tag);
        }
        PendingCall first = nextPending();
        PendingCall second = nextPending();
        await(2);
        assertEquals(List.of(1L, 3L), ended.keySet().stream().sorted().toList());
        MemorySegment long64 = MemorySegment.ofArray(new byte[RECORD + 1]);
        assertThrows(IllegalArgumentException.class, () -> second.answer(long64));
        assertTrue(second.answer(MemorySegment.ofArray(new byte[] {1, 2, 3})));
        assertFalse(second.answer(MemorySegment.ofArray(new byte[0])), "it has been answered");
        assertFalse(second.fail(), "it has been answered");
        await(3);
        assertEquals(new Ended(Outcome.DONE, 3), ended.get(2L));
        assertEquals(2, reply(2, 3).get(JAVA_BYTE, 1));
        assertTrue(first.fail());
        await(4);
        assertEquals(new Ended(Outcome.FAILED, 0), ended.get(0L));
        // The place can be used again.
        ended.clear();
        for (long tag = 0; tag < CALLS; tag++) {
            mustCall(0, ECHO, 8, tag);
        }
        await(CALLS);
    }

    /** Each call that is put off keeps the place of its answer: there are as many as entries of the rings. */
    @Test
    void whatIsPutOffFillsTheQueueUntilItIsAnswered() throws InterruptedException {
        int places = (BATCHES + 2) * BATCH;
        List<PendingCall> calls = new ArrayList<>();
        for (long tag = 0; tag < places; tag++) {
            while (call(0, LATER, 8, tag) == PostResult.FULL) {
                poll();
            }
        }
        while (calls.size() < places) {
            calls.add(nextPending());
        }
        poll();
        assertEquals(PostResult.FULL, call(0, ECHO, 8, 99));
        assertEquals(0, queue.room(attached.get(0)));
        mustCall(1, ECHO, 8, 100);
        await(1);
        // One place that becomes free, in the midst of a batch, is enough for others to use one after another.
        assertTrue(calls.remove(places / 2 + 1).answer(MemorySegment.ofArray(new long[] {places / 2 + 1})));
        await(2);
        for (long tag = 101; tag < 131; tag++) {
            while (call(0, ECHO, 8, tag) == PostResult.FULL) {
                poll();
            }
            await((int) tag - 98);
        }
        for (int i = places - 2; i >= 0; i--) {
            assertTrue(calls.get(i).answer(MemorySegment.ofArray(new long[] {i > places / 2 ? i + 1 : i})));
        }
        await(places + 31);
        for (long tag = 0; tag < places; tag++) {
            assertEquals(tag, reply(tag, 8).get(JAVA_LONG, 0));
        }
        mustCall(0, ECHO, 8, 99);
        await(places + 32);
    }

    static Stream<Integer> batchSizes() {
        return Stream.of(1, BATCH);
    }

    /** A call that takes long keeps no other from its server. */
    @ParameterizedTest
    @MethodSource("batchSizes")
    void aCallThatIsPutOffKeepsItsOwnPlaceAlone(int batch) throws InterruptedException {
        queue.close();
        queue = memory.openRpcQueue(OPTIONS.with(2, batch));
        mustCall(0, LATER, 8, 0);
        PendingCall slow = nextPending();
        for (long tag = 1; tag < 100; tag++) {
            arguments(tag, RECORD).set(JAVA_LONG, 0, 1000 + tag);
            mustCall(0, ECHO, 8, tag);
            await((int) tag);
            assertEquals(1000 + tag, reply(tag, 8).get(JAVA_LONG, 0));
        }
        assertTrue(slow.answer(MemorySegment.ofArray(new long[] {7})));
        await(100);
        assertEquals(new Ended(Outcome.DONE, 8), ended.get(0L));
        assertEquals(7, reply(0, 8).get(JAVA_LONG, 0));
    }

    private record PutOff(PendingCall call, byte[] arguments) {}

    /**
     * Calls that are put off are answered in any order, while others use the places between them; then some are lost.
     */
    @ParameterizedTest
    @MethodSource("batchSizes")
    void eachCallGetsItsOwnAnswerHoweverLateItComes(int batch) {
        long seed = System.nanoTime();
        System.out.println("late answers of seed " + seed);
        SplittableRandom random = new SplittableRandom(seed);
        queue.close();
        queue = memory.openRpcQueue(OPTIONS.with(3, batch));
        BlockingQueue<PutOff> arrived = new LinkedBlockingQueue<>();
        servers.register(22, (held, arguments, reply) -> {
            arrived.add(new PutOff(reply.later(), arguments.segment().toArray(JAVA_BYTE)));
            return RpcHandler.LATER;
        });
        List<PutOff> putOff = new ArrayList<>();
        Deque<Long> free = LongStream.range(0, 200).boxed().collect(Collectors.toCollection(ArrayDeque::new));
        int made = 0;
        int calls = Effort.either(300, 3_000);
        while (made < calls) {
            long tag = free.getFirst();
            arguments(tag, RECORD).set(JAVA_LONG, 8, tag);
            reply(tag, RECORD).fill((byte) 0);
            if (call(0, random.nextInt(3) == 0 ? 22 : ECHO, RECORD, tag) == PostResult.OK) {
                free.removeFirst();
                made++;
            }
            if (random.nextInt(3) == 0) {
                queue.poll((answered, outcome, bytes) -> {
                    assertEquals(Outcome.DONE, outcome);
                    assertEquals(RECORD, bytes);
                    assertEquals(answered, reply(answered, RECORD).get(JAVA_LONG, 8), "whose answer it is");
                    free.addLast(answered);
                });
            }
            arrived.drainTo(putOff);
            while (!putOff.isEmpty() && random.nextInt(4) == 0) {
                PutOff one = putOff.remove(random.nextInt(putOff.size()));
                assertTrue(one.call().answer(MemorySegment.ofArray(one.arguments())));
            }
        }
        int left = 200 - free.size();
        assertEquals(left, queue.underWay());
        Map<Long, Integer> outcomes = new HashMap<>();
        queue.reconnect(attached.get(0), 1000);
        while (outcomes.size() <= left) {
            queue.poll((tag, outcome, bytes) -> assertEquals(null, outcomes.put(tag, outcome), "tag " + tag));
        }
        assertTrue(outcomes.containsKey(1000L));
        assertEquals(0, queue.underWay());
        for (long tag = 0; tag < 3L * batch; tag++) {
            mustCall(0, ECHO, 8, tag);
        }
        await(3 * batch);
    }

    @Test
    void aCallThatWasNotSentSaysSo() throws InterruptedException {
        mustCall(0, LATER, 8, 0);
        nextPending();
        mustCall(0, LATER, 8, 1);
        nextPending();
        // No poll sends it, as the test makes none before the connection fails.
        mustCall(0, ECHO, 8, 2);
        queue.fail(attached.get(0).index());
        await(3);
        assertEquals(new Ended(Outcome.UNKNOWN, 0), ended.get(0L));
        assertEquals(new Ended(Outcome.UNKNOWN, 0), ended.get(1L));
        assertEquals(new Ended(Outcome.NOT_POSTED, 0), ended.get(2L));
    }

    @Test
    void aHandlerThatRepliesHavingPutOffIsAnsweredOnce() throws InterruptedException {
        mustCall(0, LATER_AND_REPLY, 8, 0);
        PendingCall call = nextPending();
        await(1);
        assertFalse(call.answer(MemorySegment.ofArray(new byte[8])));
        mustCall(0, ECHO, 8, 1);
        await(2);
    }

    /** If a wake-up were lost, one of these sleeps would last five minutes. */
    @Test
    void aSleeperIsWokenByWhateverComes() throws Exception {
        long seed = System.nanoTime();
        System.out.println("sleeps of seed " + seed);
        SplittableRandom random = new SplittableRandom(seed);
        SplittableRandom theirs = random.split();
        queue.patienceNanos = SLEEP_NANOS;
        Thread answers = Thread.ofPlatform().daemon().start(() -> {
            try {
                while (true) {
                    PendingCall call = pending.take();
                    for (int i = theirs.nextInt(20_000); i > 0; i--) {
                        Thread.onSpinWait();
                    }
                    if (theirs.nextInt(8) == 0) {
                        Thread.sleep(1);
                    }
                    call.answer(MemorySegment.ofArray(new long[] {7}));
                }
            } catch (InterruptedException e) {
                // The test has ended.
            }
        });
        for (int round = 0; round < Effort.count(400); round++) {
            ended.clear();
            int calls = 1 + random.nextInt(CALLS);
            for (long tag = 0; tag < calls; tag++) {
                mustCall(random.nextInt(2), random.nextInt(3) == 0 ? ECHO : LATER, 8, tag);
            }
            await(calls);
            assertTrue(ended.values().stream().allMatch(end -> end.outcome() == Outcome.DONE));
        }
        answers.interrupt();
        answers.join();
    }

    @Test
    void whatIsWrongAtTheCallersEndIsInvalid() {
        RemoteServer server = attached.get(0);
        long end = buffer.bytes();
        assertEquals(PostResult.INVALID, queue.call(server, ECHO, buffer, 0, -1, 64, 8, 0));
        assertEquals(PostResult.INVALID, queue.call(server, ECHO, buffer, 0, RECORD + 1, 64, 8, 0));
        assertEquals(PostResult.INVALID, queue.call(server, ECHO, buffer, 0, 8, 64, -1, 0));
        assertEquals(PostResult.INVALID, queue.call(server, ECHO, buffer, 0, 8, 64, RECORD + 1, 0));
        assertEquals(PostResult.INVALID, queue.call(server, ECHO, buffer, -1, 8, 64, 8, 0));
        assertEquals(PostResult.INVALID, queue.call(server, ECHO, buffer, end - 7, 8, 64, 8, 0));
        assertEquals(PostResult.INVALID, queue.call(server, ECHO, buffer, 0, 8, -1, 8, 0));
        assertEquals(PostResult.INVALID, queue.call(server, ECHO, buffer, 0, 8, end - 7, 8, 0));
        assertEquals(PostResult.INVALID, queue.call(server, ECHO, buffer, Long.MAX_VALUE, 8, 64, 8, 0));
        RegisteredBuffer closed = memory.register(4096);
        closed.close();
        assertEquals(PostResult.INVALID, queue.call(server, ECHO, closed, 0, 8, 64, 8, 0));
        try (RemoteMemory other = RemoteMemory.open(TestDevice.client(), "other")) {
            assertEquals(PostResult.INVALID, queue.call(server, ECHO, other.register(4096), 0, 8, 64, 8, 0));
        }
        assertEquals(PostResult.OK, queue.call(server, ECHO, buffer, end - 8, 8, end - 8, 8, 0));
        await(1);
        assertThrows(IllegalArgumentException.class, () -> new RpcOptions(0, 1, 8, 1, 0));
        assertThrows(IllegalArgumentException.class, () -> new RpcOptions(1, 1, (64 << 10) + 1, 1, 0));
        assertThrows(IllegalArgumentException.class, () -> new RpcOptions(1, 4096, 64 << 10, 1, 0));
        assertThrows(IllegalArgumentException.class, () -> new RpcOptions(1, 1, 8, 0, 0));
    }

    @Test
    void aBufferThatTakesAReplyStaysOpen() throws InterruptedException {
        RegisteredBuffer mine = memory.register(4096);
        assertEquals(PostResult.OK, queue.call(attached.get(0), LATER, mine, 0, 8, 64, 8, 0));
        PendingCall call = nextPending();
        assertThrows(IllegalStateException.class, mine::close);
        call.answer(MemorySegment.ofArray(new byte[8]));
        await(1);
        mine.close();
    }

    @Test
    void aServerThatEndsTakesItsOwnCallsAlongAlone() throws InterruptedException {
        mustCall(0, LATER, 8, 0);
        mustCall(1, LATER, 8, 1);
        PendingCall one = nextPending();
        PendingCall other = nextPending();
        mustCall(0, ECHO, 8, 2);
        servers.stop(0);
        mustCall(1, ECHO, 8, 3);
        long extra = 0;
        while (queue.connected(attached.get(0))) {
            poll();
            // A client that only receives notices the server's end by its next operation.
            queue.call(attached.get(0), ECHO, buffer, 0, 8, 1024, 8, 1000 + extra++);
        }
        while (!ended.containsKey(0L) || !ended.containsKey(3L)) {
            poll();
        }
        assertEquals(new Ended(Outcome.UNKNOWN, 0), ended.get(0L));
        assertEquals(new Ended(Outcome.DONE, 8), ended.get(3L));
        assertTrue(
                one.answer(MemorySegment.ofArray(new byte[8])) ^ other.answer(MemorySegment.ofArray(new byte[8])),
                "the call of the server that has ended is cancelled, the other is not");
        while (!ended.containsKey(1L)) {
            poll();
        }
        assertEquals(new Ended(Outcome.DONE, 8), ended.get(1L));
        assertEquals(PostResult.LOST, call(0, ECHO, 8, 60));
        queue.reconnect(attached.get(0), 70);
        while (!ended.containsKey(70L)) {
            poll();
        }
        assertEquals(Outcome.UNREACHABLE, ended.get(70L).outcome());
    }

    @Test
    void aConnectionMadeAnewTakesCallsAndTheOldOnesAreUnknown() throws InterruptedException {
        mustCall(0, LATER, 8, 0);
        PendingCall call = nextPending();
        mustCall(0, ECHO, 8, 1);
        queue.reconnect(attached.get(0), 70);
        while (!ended.containsKey(70L)) {
            poll();
        }
        assertEquals(Outcome.DONE, ended.get(70L).outcome());
        assertEquals(Outcome.UNKNOWN, ended.get(0L).outcome());
        assertTrue(call.cancelled());
        assertFalse(call.answer(MemorySegment.ofArray(new byte[8])));
        for (long tag = 2; tag < 2 + CALLS; tag++) {
            mustCall(0, ECHO, 8, tag);
        }
        await(3 + CALLS);
        queue.disconnect(attached.get(0), 71);
        while (!ended.containsKey(71L)) {
            poll();
        }
        assertEquals(Outcome.DONE, ended.get(71L).outcome());
        assertEquals(PostResult.LOST, call(0, ECHO, 8, 60));
    }

    /** Changes of a connection are made in the order of the requests, and the last one's result is used. */
    @Test
    void theLastOfManyChangesCounts() {
        for (int round = 0; round < 20; round++) {
            ended.clear();
            long tag = 100;
            for (int i = 0; i < 1 + round % 4; i++) {
                if ((round + i) % 3 == 0) {
                    queue.disconnect(attached.get(0), tag++);
                }
                queue.reconnect(attached.get(0), tag++);
                if (i % 2 == 0) {
                    poll();
                }
            }
            while (!ended.containsKey(tag - 1)) {
                poll();
            }
            assertEquals(Outcome.DONE, ended.get(tag - 1).outcome());
            ended.clear();
            for (long call = 0; call < CALLS; call++) {
                mustCall(0, ECHO, 8, call);
            }
            await(CALLS);
        }
        queue.reconnect(attached.get(0), 200);
        queue.disconnect(attached.get(0), 201);
        while (!ended.containsKey(201L)) {
            poll();
        }
        assertFalse(queue.connected(attached.get(0)));
        assertEquals(PostResult.LOST, call(0, ECHO, 8, 60));
    }

    @Test
    void aServerThatIsGoneKeepsNobodyFromClosing() {
        try (TestServers one = new TestServers(1);
                RemoteMemory other = RemoteMemory.open(TestDevice.client(), "closing")) {
            RemoteServer server = other.attach(one.address(0));
            RpcQueue calls = other.openRpcQueue(OPTIONS);
            RegisteredBuffer page = other.register(4096);
            assertEquals(PostResult.OK, calls.call(server, NONE, page, 0, 8, 64, 8, 0));
            one.stop(0);
            calls.close();
            page.close();
        }
    }

    @Test
    void aServerOfAnotherMemoryIsNotCalled() {
        try (RemoteMemory other = RemoteMemory.open(TestDevice.client(), "other")) {
            RemoteServer server = other.attach(servers.address(1));
            assertEquals(PostResult.INVALID, queue.call(server, ECHO, buffer, 0, 8, 64, 8, 0));
        }
    }

    @Test
    void operationsComeAndGo() {
        assertThrows(IllegalArgumentException.class, () -> servers.register(ECHO, (held, arguments, reply) -> 0));
        assertThrows(IllegalArgumentException.class, () -> servers.register(-1, (held, arguments, reply) -> 0));
        assertThrows(
                IllegalArgumentException.class,
                () -> servers.register(RpcHandlers.MOST, (held, arguments, reply) -> 0));
        servers.unregister(ECHO);
        mustCall(0, ECHO, 8, 0);
        await(1);
        assertEquals(new Ended(Outcome.NO_OPERATION, 0), ended.get(0L));
        servers.register(ECHO, (held, arguments, reply) -> 5);
        mustCall(0, ECHO, 8, 1);
        await(2);
        assertEquals(new Ended(Outcome.DONE, 5), ended.get(1L));
    }

    @Test
    void aQueueThatIsClosedRefuses() throws InterruptedException {
        mustCall(0, LATER, 8, 0);
        PendingCall call = nextPending();
        queue.close();
        queue.close();
        assertTrue(call.cancelled());
        assertThrows(IllegalStateException.class, this::poll);
        assertEquals(PostResult.LOST, call(0, ECHO, 8, 1));
        buffer.close();
    }
}
