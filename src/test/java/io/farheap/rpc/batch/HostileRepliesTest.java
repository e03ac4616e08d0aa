package io.farheap.rpc.batch;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.rpc.RingShape;
import io.farheap.rpc.message.BatchFormat;
import io.farheap.rpc.message.PayloadCopier;
import java.util.SplittableRandom;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A server sends arbitrary replies: the client takes only valid replies to its calls, and writes nowhere else. */
class HostileRepliesTest {

    private static final RingShape SHAPE = new RingShape(2, 4, 64, true);
    private static final int CALLS = 4;
    /** The most bytes of a reply, and so the distance between replies in memory. */
    private static final int CAPACITY = 40;

    private static final byte UNTOUCHED = 0x77;

    private final HostileServer server = new HostileServer(SHAPE);
    private final BatchConnection client = server.client;

    @BeforeEach
    void send4Calls() {
        server.destination().fill(UNTOUCHED);
        for (int i = 0; i < CALLS; i++) {
            client.addCall(
                    9,
                    server.destinationAddress(),
                    8,
                    server.destinationAddress() + 64 + (long) i * CAPACITY,
                    CAPACITY);
        }
        assertTrue(client.send());
    }

    @AfterEach
    void close() {
        server.close();
    }

    /** An answer to the batch, whose replies have one length and may state another. */
    private void answer(int length, long said, byte... statuses) {
        int at = BatchFormat.HEADER_BYTES;
        long hash = BatchFormat.start();
        for (int i = 0; i < CALLS; i++) {
            boolean done = statuses.length == 0 || statuses[i] == BatchFormat.DONE;
            server.message().set(JAVA_LONG, at, done ? said : 0);
            hash = BatchFormat.mix(hash, done ? said : 0);
            at += Long.BYTES;
            if (done) {
                server.fill(at, BatchFormat.padded(length), 0x0101010101010101L * (i + 1));
                hash = PayloadCopier.hash(server.messageAddress() + at, length, hash);
                at += BatchFormat.padded(length);
            }
        }
        if (statuses.length > 0) {
            server.message().set(JAVA_LONG, at, 0);
            for (int i = 0; i < CALLS; i++) {
                server.message().set(JAVA_BYTE, at + i, statuses[i]);
            }
            hash = PayloadCopier.hash(server.messageAddress() + at, BatchFormat.padded(CALLS), hash);
            at += BatchFormat.padded(CALLS);
        }
        BatchFormat.header(
                server.message(),
                0,
                1,
                BatchFormat.summary(at, CALLS, statuses.length > 0 ? BatchFormat.STATUSES : 0),
                hash);
        server.send(1, 0, at);
    }

    private void answerLater(int index, long sequence, int count, int said, int status, long spoil) {
        int at = SHAPE.laterAt(index);
        server.fill(at + BatchFormat.HEADER_BYTES, CAPACITY, 0x0505050505050505L);
        long hash = PayloadCopier.hash(
                server.messageAddress() + at + BatchFormat.HEADER_BYTES,
                Math.clamp(said, 0, CAPACITY),
                BatchFormat.start());
        BatchFormat.header(server.message(), at, sequence, BatchFormat.summary(said, count, status), hash ^ spoil);
        server.send(1, at, BatchFormat.HEADER_BYTES + CAPACITY);
    }

    private void assertUntouchedFrom(long offset) {
        for (long at = offset; at < HostileServer.DESTINATION_BYTES; at++) {
            assertEquals(UNTOUCHED, server.destination().get(JAVA_BYTE, at), "byte " + at);
        }
    }

    @Test
    void goodRepliesAreTaken() {
        answer(16, 16);
        assertEquals(1, client.receive());
        assertEquals(CALLS, client.ready());
        for (int i = 0; i < CALLS; i++) {
            assertEquals(16, client.replies().bytes(client.head() + i));
            assertEquals(i + 1, server.destination().get(JAVA_BYTE, 64 + i * CAPACITY + 15));
            assertEquals(UNTOUCHED, server.destination().get(JAVA_BYTE, 64 + i * CAPACITY + 16));
        }
        assertUntouchedFrom(64 + CALLS * CAPACITY);
    }

    @ParameterizedTest
    @ValueSource(longs = {CAPACITY + 1, 64, 4096, -1, Long.MIN_VALUE, 1L << 32, 1L << 32 | 8, Long.MAX_VALUE})
    void aReplyThatSaysItIsLongerIsNot(long said) {
        answer(8, said);
        assertEquals(0, client.receive());
        assertUntouchedFrom(64);
    }

    @ParameterizedTest
    @ValueSource(bytes = {5, 127, -1, -2, Byte.MIN_VALUE})
    void aStatusThatIsNoneIsNotTaken(byte status) {
        answer(8, 8, BatchFormat.DONE, status, BatchFormat.DONE, BatchFormat.DONE);
        assertEquals(0, client.receive());
        assertEquals(0, client.ready());
        answer(8, 8);
        assertEquals(1, client.receive());
        for (int i = 0; i < CALLS; i++) {
            assertEquals(BatchFormat.DONE, client.status(client.head() + i));
        }
    }

    @Test
    void oneThatIsShorterThanItSaysIsTorn() {
        answer(8, 16);
        assertEquals(0, client.receive());
        assertUntouchedFrom(64 + CALLS * CAPACITY);
    }

    @Test
    void answersThatComeLaterAreTakenOnce() {
        answer(8, 8, BatchFormat.DONE, BatchFormat.LATER, BatchFormat.FAILED, BatchFormat.LATER);
        assertEquals(1, client.receive());
        int head = client.head();
        assertEquals(2, client.replies().awaited());
        assertFalse(client.replies().hasArrived());
        answerLater(3, 1, 3, 24, BatchFormat.DONE, 0);
        client.receive();
        assertEquals(head + 3, client.replies().takeArrived());
        assertEquals(-1, client.replies().takeArrived());
        assertEquals(24, client.replies().bytes(head + 3));
        client.receive();
        assertEquals(-1, client.replies().takeArrived());
        answerLater(1, 1, 1, 0, BatchFormat.FAILED, 0);
        client.receive();
        assertEquals(head + 1, client.replies().takeArrived());
        assertEquals(BatchFormat.FAILED, client.status(head + 1));
        assertEquals(0, client.replies().awaited());
        assertFalse(client.replies().later(head + 1) || client.replies().later(head));
        assertUntouchedFrom(64 + CALLS * CAPACITY);
    }

    /** A wrong later answer is not taken, but a right one that follows it is. */
    @Test
    void anythingElseLaterIsNotTaken() {
        answer(8, 8, BatchFormat.DONE, BatchFormat.LATER, BatchFormat.DONE, BatchFormat.DONE);
        client.receive();
        Runnable[] wrong = {
            () -> answerLater(1, 0, 1, 8, BatchFormat.DONE, 0),
            () -> answerLater(1, 2, 1, 8, BatchFormat.DONE, 0),
            () -> answerLater(1, 1 + SHAPE.slots(), 1, 8, BatchFormat.DONE, 0),
            () -> answerLater(1, 1, 2, 8, BatchFormat.DONE, 0),
            () -> answerLater(1, 1, 1, CAPACITY + 1, BatchFormat.DONE, 0),
            () -> answerLater(1, 1, 1, -1, BatchFormat.DONE, 0),
            () -> answerLater(1, 1, 1, Integer.MAX_VALUE, BatchFormat.DONE, 0),
            () -> answerLater(1, 1, 1, 8, BatchFormat.LATER, 0),
            () -> answerLater(1, 1, 1, 8, BatchFormat.NOT_HELD, 0),
            () -> answerLater(1, 1, 1, 8, 0xFFFF, 0),
            () -> answerLater(1, 1, 1, 8, BatchFormat.DONE, 1),
            () -> answerLater(0, 1, 0, 8, BatchFormat.DONE, 0),
            () -> answerLater(3, 1, 3, 8, BatchFormat.DONE, 0),
        };
        for (int i = 0; i < wrong.length; i++) {
            wrong[i].run();
            client.receive();
            assertFalse(client.replies().hasArrived(), "wrong answer " + i);
            assertFalse(client.failed(), "wrong answer " + i);
        }
        answerLater(1, 1, 1, 8, BatchFormat.DONE, 0);
        client.receive();
        assertTrue(client.replies().hasArrived());
        assertUntouchedFrom(64 + CALLS * CAPACITY);
    }

    /** The header has come, but some words of the reply have not, or are those of an earlier answer. */
    @Test
    void aTornAnswerLaterIsNotTakenBeforeItIsWhole() {
        long seed = System.nanoTime();
        SplittableRandom random = new SplittableRandom(seed);
        answer(8, 8, BatchFormat.LATER, BatchFormat.DONE, BatchFormat.DONE, BatchFormat.DONE);
        client.receive();
        int at = SHAPE.laterAt(0);
        for (int i = 0; i < CAPACITY; i += 8) {
            server.message().set(JAVA_LONG, at + BatchFormat.HEADER_BYTES + i, random.nextLong(3));
        }
        long hash = PayloadCopier.hash(
                server.messageAddress() + at + BatchFormat.HEADER_BYTES, CAPACITY, BatchFormat.start());
        BatchFormat.header(server.message(), at, 1, BatchFormat.summary(CAPACITY, 0, BatchFormat.DONE), hash);
        for (int word = 0; word < CAPACITY / 8; word++) {
            int place = at + BatchFormat.HEADER_BYTES + word * 8;
            long right = server.message().get(JAVA_LONG, place);
            for (long old : new long[] {0, right + 1, -1, right << 8 | 1}) {
                if (old != right) {
                    server.message().set(JAVA_LONG, place, old);
                    server.send(1, at, BatchFormat.HEADER_BYTES + CAPACITY);
                    client.receive();
                    assertFalse(client.replies().hasArrived(), "word " + word + " was " + old + ", seed " + seed);
                }
            }
            server.message().set(JAVA_LONG, place, right);
        }
        server.send(1, at, BatchFormat.HEADER_BYTES + CAPACITY);
        client.receive();
        assertTrue(client.replies().hasArrived());
    }

    @Test
    void whatIsAwaitedIsLostWithTheConnection() {
        answer(8, 8, BatchFormat.LATER, BatchFormat.DONE, BatchFormat.LATER, BatchFormat.DONE);
        client.receive();
        int head = client.head();
        client.fail();
        int first = client.replies().takeArrived();
        int second = client.replies().takeArrived();
        assertEquals(2 * head + 2, first + second);
        assertEquals(BatchConnection.LOST, client.status(first));
        assertEquals(BatchConnection.LOST, client.status(second));
        assertEquals(-1, client.replies().takeArrived());
    }

    private int call() {
        int entry = client.addCall(
                9, server.destinationAddress(), 8, server.destinationAddress() + 64 + CALLS * CAPACITY, CAPACITY);
        assertTrue(client.send());
        return entry;
    }

    /** An answer to a batch, whose replies have these lengths. */
    private void answer(long sequence, int[] lengths, byte... statuses) {
        int at = BatchFormat.HEADER_BYTES;
        long hash = BatchFormat.start();
        for (int length : lengths) {
            server.message().set(JAVA_LONG, at, length);
            server.fill(at + Long.BYTES, BatchFormat.padded(length), 0x0303030303030303L);
            hash = PayloadCopier.hash(server.messageAddress() + at + Long.BYTES, length, BatchFormat.mix(hash, length));
            at += Long.BYTES + BatchFormat.padded(length);
        }
        server.message().set(JAVA_LONG, at, 0);
        for (int i = 0; i < statuses.length; i++) {
            server.message().set(JAVA_BYTE, at + i, statuses[i]);
        }
        hash = PayloadCopier.hash(server.messageAddress() + at, BatchFormat.padded(statuses.length), hash);
        at += BatchFormat.padded(statuses.length);
        BatchFormat.header(
                server.message(), 0, sequence, BatchFormat.summary(at, lengths.length, BatchFormat.STATUSES), hash);
        server.send(sequence, 0, at);
    }

    /** A later batch of the slot leaves out a call that still waits: what the server says of that place counts not. */
    @Test
    void aPlaceThatIsLeftOutTakesNothing() {
        answer(8, 8, BatchFormat.LATER, BatchFormat.DONE, BatchFormat.DONE, BatchFormat.DONE);
        assertEquals(1, client.receive());
        int kept = client.head();
        client.finish(CALLS);
        for (long sequence = 2; sequence <= SHAPE.slots(); sequence++) {
            int entry = call();
            answer(sequence, new int[] {8}, BatchFormat.DONE);
            assertEquals(1, client.receive());
            assertEquals(BatchFormat.DONE, client.status(entry));
            client.finish(1);
        }
        int entry = call();
        assertEquals(kept + 1, entry, "the place before it is kept");
        assertTrue(client.leavesOut(kept) && !client.leavesOut(entry));
        server.destination().fill(UNTOUCHED);
        answer(1 + SHAPE.slots(), new int[] {8, 8}, BatchFormat.DONE, BatchFormat.DONE);
        assertEquals(0, client.receive(), "a reply in the place");
        answerLater(0, 1, 0, 24, BatchFormat.DONE, 0);
        client.receive();
        assertTrue(client.replies().hasArrived());
        answer(1 + SHAPE.slots(), new int[] {0, 8}, BatchFormat.LATER, BatchFormat.DONE);
        assertEquals(1, client.receive());
        assertEquals(kept, client.replies().takeArrived());
        assertEquals(24, client.replies().bytes(kept));
        assertEquals(BatchFormat.DONE, client.status(kept));
        assertEquals(BatchFormat.DONE, client.status(entry));
        assertEquals(0, client.replies().awaited());
        assertEquals(5, server.destination().get(JAVA_BYTE, 64 + 23));
        assertEquals(UNTOUCHED, server.destination().get(JAVA_BYTE, 64 + 24));
    }
}
