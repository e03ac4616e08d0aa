package io.farheap.rpc.batch;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.remote.contract.Outcome;
import io.farheap.remote.contract.ReplyHandler;
import io.farheap.remote.queue.RpcLane;
import io.farheap.rpc.RingShape;
import io.farheap.rpc.message.BatchFormat;
import io.farheap.rpc.message.PayloadCopier;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A queue's calls to a server whose answers come exactly when the test gives them. */
class RpcLaneTest {

    private static final RingShape SHAPE = new RingShape(1, 1, 64, true);
    private static final int CAPACITY = 40;

    private final HostileServer server = new HostileServer(SHAPE);
    private final BatchConnection client = server.client;
    private final RpcLane lane = new RpcLane(null, client);
    private final List<Long> done = new ArrayList<>();
    private final ReplyHandler handler = (tag, outcome, bytes) -> {
        assertEquals(Outcome.DONE, outcome);
        done.add(tag);
    };

    @AfterEach
    void close() {
        server.close();
    }

    private void call(long tag) {
        assertTrue(lane.hasRoom());
        lane.call(9, this, server.destinationAddress(), 8, server.destinationAddress() + 64, CAPACITY, tag);
    }

    private void answer(long sequence, byte status) {
        int at = BatchFormat.HEADER_BYTES;
        server.message().set(JAVA_LONG, at, 0);
        long hash = BatchFormat.mix(BatchFormat.start(), 0);
        at += Long.BYTES;
        server.message().set(JAVA_LONG, at, 0);
        server.message().set(JAVA_BYTE, at, status);
        hash = PayloadCopier.hash(server.messageAddress() + at, BatchFormat.padded(1), hash);
        at += BatchFormat.padded(1);
        BatchFormat.header(server.message(), 0, sequence, BatchFormat.summary(at, 1, BatchFormat.STATUSES), hash);
        server.send(sequence, 0, at);
    }

    private void answerEmpty(long sequence) {
        server.seal(sequence);
        server.send(sequence, 0, BatchFormat.HEADER_BYTES);
    }

    private void answerLater(long sequence) {
        int at = SHAPE.laterAt(0);
        BatchFormat.header(
                server.message(), at, sequence, BatchFormat.summary(0, 0, BatchFormat.DONE), BatchFormat.start());
        server.send(sequence, at, BatchFormat.HEADER_BYTES);
    }

    /** A batch without requests passes over the slot that a call keeps: it takes no place of the calls. */
    @Test
    void thereIsRoomBehindASlotThatIsKept() {
        for (long tag = 1; tag <= 3; tag++) {
            assertEquals(1, client.room());
            call(tag);
            assertEquals(0, client.room());
            answer(tag, tag == 1 ? BatchFormat.LATER : BatchFormat.DONE);
            assertEquals(tag == 1 ? 0 : 1, lane.poll(handler));
        }
        assertEquals(1, client.room());
        call(4);
        assertEquals(0, client.room());
    }

    /**
     * Calls that took long keep whole slots, and end before the server answers the batches without requests that pass
     * over these slots: then no call is under way, and a poll still has to take those answers.
     */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void roomComesThoughNoCallIsUnderWay(boolean sleeps) {
        for (long tag = 1; tag <= 3; tag++) {
            call(tag);
            answer(tag, tag < 3 ? BatchFormat.LATER : BatchFormat.DONE);
            assertEquals(tag < 3 ? 0 : 1, lane.poll(handler));
        }
        assertFalse(lane.hasRoom(), "both other slots are kept");
        assertFalse(lane.isFull(), "there is room once two batches without requests are answered");
        assertFalse(lane.ready());
        answerLater(1);
        answerLater(2);
        assertEquals(2, lane.poll(handler));
        assertEquals(0, lane.underWay());
        assertFalse(lane.hasRoom());
        assertTrue(lane.busy());
        answerEmpty(4);
        answerEmpty(5);
        if (sleeps) {
            assertTrue(lane.ready(), "a call was turned away, and finds room now");
            assertFalse(lane.ready(), "that is said once");
        } else {
            assertEquals(0, lane.poll(handler));
        }
        assertFalse(lane.busy());
        call(6);
        answer(6, BatchFormat.DONE);
        assertEquals(1, lane.poll(handler));
        assertEquals(List.of(3L, 2L, 1L, 6L), done);
    }
}
