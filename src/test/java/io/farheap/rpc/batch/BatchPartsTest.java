package io.farheap.rpc.batch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.rpc.HeldRegions;
import io.farheap.rpc.MessageRing;
import io.farheap.rpc.PendingCall;
import io.farheap.rpc.RegionHolders;
import io.farheap.rpc.RingShape;
import io.farheap.rpc.RpcHandler;
import io.farheap.rpc.RpcHandlers;
import io.farheap.testing.TestDevice;
import io.farheap.verbs.CompletionChannel;
import io.farheap.verbs.Context;
import io.farheap.verbs.Devices;
import io.farheap.verbs.ProtectionDomain;
import java.lang.foreign.Arena;
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
    private static final int LOOKS = 1_000_000;

    private final Arena arena = Arena.ofConfined();
    private final MemorySegment memory = arena.allocate(4096, 64);
    private final Context context = Devices.open(TestDevice.client());
    private final ProtectionDomain domain = context.allocateProtectionDomain();
    private final CompletionChannel channel = context.createCompletionChannel();
    private final RpcHandlers handlers = new RpcHandlers();
    private final BatchConnection client = new BatchConnection(context, null, SHAPE, 64);
    private final MessageRing ring = new MessageRing(
            context,
            domain,
            new HeldRegions(new RegionHolders(memory, 4096, 1), 1, "test"),
            handlers,
            SHAPE,
            channel,
            () -> {},
            client.responseAddress(),
            client.responseKey());
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
        ring.connect(client.endpoint());
        client.connect(ring.endpoint(), ring.address(), ring.remoteKey());
    }

    @AfterEach
    void close() {
        client.close();
        ring.close();
        channel.close();
        domain.close();
        context.close();
        arena.close();
    }

    private void call(int operation) {
        client.addCall(operation, memory.address(), 8, memory.address() + 8, 8);
    }

    private void sendAndServe() {
        assertTrue(client.send());
        for (int i = 0; ring.serve() == 0; i++) {
            assertTrue(i < LOOKS, "the batch does not come");
        }
    }

    private void awaitAnswer() {
        for (int i = 0; client.unanswered() > 0; i++) {
            assertTrue(i < LOOKS, "the batch is not answered");
            client.receive();
        }
    }

    private void awaitLateAnswer() {
        for (int i = 0; !client.replies().hasArrived(); i++) {
            assertTrue(i < LOOKS, "no late answer");
            client.receive();
        }
        client.replies().takeArrived();
    }

    /** A batch may wait for those of other clients when a part of it has been executed. */
    @Test
    void aLateAnswerToAnEarlierBatchIsSent() {
        call(LATER);
        sendAndServe();
        awaitAnswer();
        call(LATER);
        for (int i = 0; i < MessageRing.MOST_AT_ONCE; i++) {
            call(AT_ONCE);
        }
        sendAndServe();
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
