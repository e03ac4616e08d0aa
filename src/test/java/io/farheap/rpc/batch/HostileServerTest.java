package io.farheap.rpc.batch;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.rpc.RingShape;
import io.farheap.rpc.message.BatchFormat;
import io.farheap.rpc.message.PayloadCopier;
import java.lang.foreign.MemorySegment;
import java.util.SplittableRandom;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A server sends arbitrary answers: the client takes only valid answers to its batch, or the connection fails. */
class HostileServerTest {

    private static final RingShape SHAPE = new RingShape(2, 16);
    private static final int RECORDS = 8;
    private static final int RECORD = 24;

    private final HostileServer server = new HostileServer(SHAPE);
    private final BatchConnection client = server.client;

    @BeforeEach
    void send8Reads() {
        server.destination().fill((byte) 0x77);
        for (int i = 0; i < RECORDS; i++) {
            client.addRead(0, 0, RECORD, server.destinationAddress() + i * RECORD);
        }
        assertTrue(client.send());
    }

    @AfterEach
    void close() {
        server.close();
    }

    private MemorySegment message() {
        return server.message();
    }

    /** A valid answer, with statuses at its end if {@code statuses}. */
    private void answer(long sequence, boolean statuses) {
        int bytes = BatchFormat.HEADER_BYTES + RECORDS * RECORD;
        for (int at = BatchFormat.HEADER_BYTES; at < bytes; at += 8) {
            message().set(JAVA_LONG, at, at);
        }
        long hash = BatchFormat.start();
        for (int i = 0; i < RECORDS; i++) {
            hash = PayloadCopier.hash(
                    server.messageAddress() + BatchFormat.HEADER_BYTES + (long) i * RECORD, RECORD, hash);
        }
        if (statuses) {
            message().set(JAVA_LONG, bytes, 0x0001_0000_0000_0000L);
            hash = PayloadCopier.hash(server.messageAddress() + bytes, RECORDS, hash);
            bytes += RECORDS;
        }
        BatchFormat.header(
                message(), 0, sequence, BatchFormat.summary(bytes, RECORDS, statuses ? BatchFormat.STATUSES : 0), hash);
    }

    private void send() {
        server.send(1);
    }

    private int finishAll() {
        int finished = 0;
        for (; client.ready() > 0; finished++) {
            client.finish(1);
        }
        return finished;
    }

    @Test
    void aGoodAnswerIsTaken() {
        answer(1, false);
        send();
        assertEquals(1, client.receive());
        assertTrue(client.ready() == RECORDS && client.succeeded());
        assertEquals(RECORDS, finishAll());
        assertEquals(BatchFormat.HEADER_BYTES, server.destination().get(JAVA_LONG, 0));
        assertEquals((byte) 0x77, server.destination().get(JAVA_BYTE, RECORDS * RECORD));
    }

    @Test
    void statusesAreTaken() {
        answer(1, true);
        send();
        assertEquals(1, client.receive());
        assertFalse(client.succeeded());
        for (int entry = client.head(), i = 0; i < RECORDS; i++) {
            assertEquals(i == 6 ? BatchFormat.NOT_HELD : BatchFormat.DONE, client.status(entry + i));
        }
    }

    /** Any change of an answer is noticed, nothing is written elsewhere, and in the end the connection fails. */
    @Test
    void anythingElseIsNot() {
        long seed = System.nanoTime();
        SplittableRandom random = new SplittableRandom(seed);
        int answered = 0;
        while (!client.failed()) {
            boolean statuses = random.nextBoolean();
            answer(random.nextInt(8) == 0 ? random.nextLong() : 1, statuses);
            int bytes = BatchFormat.HEADER_BYTES + RECORDS * RECORD + (statuses ? RECORDS : 0);
            int changes = 1 + random.nextInt(random.nextBoolean() ? 1 : 100);
            for (int i = 0; i < changes; i++) {
                // The sequence stays, or the client would not look at the answer; a changed byte gets another value.
                int at = 8 + (random.nextInt(bytes - 8) + i) % (bytes - 8);
                message().set(JAVA_BYTE, at, (byte) (message().get(JAVA_BYTE, at) ^ 1 + random.nextInt(255)));
            }
            if (changes > 1) {
                // Changes may have undone each other.
                message().set(JAVA_LONG, 16, message().get(JAVA_LONG, 16) ^ 1);
            }
            send();
            answered += client.receive();
        }
        assertEquals(0, answered, "seed " + seed);
        for (int at = RECORDS * RECORD; at < HostileServer.DESTINATION_BYTES; at++) {
            assertEquals((byte) 0x77, server.destination().get(JAVA_BYTE, at), "seed " + seed);
        }
        assertFalse(client.succeeded());
        assertEquals(BatchConnection.LOST, client.status(client.head()));
        assertEquals(RECORDS, finishAll());
    }

    /**
     * A request for a wake-up takes no place of an unanswered request, however often the server wakes the client
     * without an answer.
     */
    @Test
    void wakeUpsWithoutAnswersLoseNothing() {
        int asked = 0;
        while (client.requestWakeUp()) {
            assertTrue(++asked < 10);
            server.wake();
        }
        assertTrue(asked > 0);
        client.fail();
        assertEquals(RECORDS, finishAll());
    }

    /**
     * A server that has ended, or never answers, does not keep the client waiting once its end of the connection is
     * closed.
     */
    @Test
    void aServerThatIsGoneIsNoticed() {
        server.disconnect();
        while (!client.failed()) {
            client.receive();
        }
        assertEquals(BatchConnection.LOST, client.status(client.head()));
        assertEquals(RECORDS, finishAll());
        assertFalse(client.hasRoom());
    }
}
