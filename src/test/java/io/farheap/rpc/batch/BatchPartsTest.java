package io.farheap.rpc.batch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.rpc.MessageRing;
import io.farheap.rpc.PendingCall;
import io.farheap.rpc.RingShape;
import io.farheap.rpc.RpcHandler;
import io.farheap.rpc.RpcHandlers;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What is sent between two parts of a batch with calls. */
class BatchPartsTest {

    private static final RingShape SHAPE = new RingShape(2, 2 * MessageRing.MOST_AT_ONCE, 64, true);
    private static final int LATER = 0;
    private static final int AT_ONCE = 1;

    private final RpcHandlers handlers = new RpcHandlers();
    private final ConnectedRing connected = new ConnectedRing(SHAPE, handlers);
    private final MemorySegment memory = connected.memory;
    private final BatchConnection client = connected.client;
    private final MessageRing ring = connected.ring;
    private final List<PendingCall> pending = new ArrayList<>();
    private int executed;

    BatchPartsTest() {
        handlers.register(LATER, (held, arguments, reply) -> {
            pending.add(reply.later());
            return RpcHandler.LATER;
        });
        handlers.register(AT_ONCE, (held, arguments, reply) -> {
            executed++;
            return 0;
        });
    }

    @AfterEach
    void close() {
        connected.close();
    }

    private void awaitAnswer() {
        for (int i = 0; client.unanswered() > 0; i++) {
            assertTrue(i < ConnectedRing.LOOKS, "the batch is not answered");
            client.receive();
        }
    }

    private void awaitLateAnswer() {
        for (int i = 0; !client.replies().hasArrived(); i++) {
            assertTrue(i < ConnectedRing.LOOKS, "no late answer");
            client.receive();
        }
        client.replies().takeArrived();
    }

    /** A batch may wait for those of other clients when a part of it has been executed. */
    @Test
    void aLateAnswerToAnEarlierBatchIsSent() {
        connected.call(LATER);
        connected.sendAndServe(ConnectedRing.LOOKS);
        awaitAnswer();
        connected.call(LATER);
        for (int i = 0; i < MessageRing.MOST_AT_ONCE; i++) {
            connected.call(AT_ONCE);
        }
        connected.sendAndServe(ConnectedRing.LOOKS);
        assertEquals(MessageRing.MOST_AT_ONCE - 1, executed);
        assertEquals(2, pending.size());
        assertTrue(pending.get(0).answer(memory.asSlice(0, 8)));
        ring.answerCalls();
        awaitLateAnswer();
        assertTrue(pending.get(1).answer(memory.asSlice(0, 8)));
        ring.answerCalls();
        assertEquals(1, ring.serve());
        assertEquals(MessageRing.MOST_AT_ONCE, executed);
        awaitAnswer();
        // What was sent before the batch's answer would have arrived before it.
        client.receive();
        assertFalse(client.replies().hasArrived(), "it was sent before its batch was answered");
        ring.answerCalls();
        awaitLateAnswer();
    }
}
