package io.farheap.rpc.batch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.cache.SoftverbsFaults;
import io.farheap.rpc.MessageRing;
import io.farheap.rpc.PendingCall;
import io.farheap.rpc.RingShape;
import io.farheap.rpc.RpcHandler;
import io.farheap.rpc.RpcHandlers;
import io.farheap.testing.Need;
import io.farheap.testing.Needs;
import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The bell is a client's wake-up message to its server: a client that only polls sends one for each sleep. */
class BellTest {

    private static final RingShape SHAPE = new RingShape(2, 1, 64, true);
    private static final int LATER = 0;

    private final RpcHandlers handlers = new RpcHandlers();
    private final ConnectedRing connected = new ConnectedRing(SHAPE, handlers);
    private final MemorySegment memory = connected.memory;
    private final BatchConnection client = connected.client;
    private final MessageRing ring = connected.ring;
    private PendingCall pending;

    BellTest() {
        handlers.register(LATER, (held, arguments, reply) -> {
            pending = reply.later();
            return RpcHandler.LATER;
        });
    }

    @AfterEach
    void close() {
        connected.close();
    }

    /** Returns when a call of the client is pending at the server, so that the client polls for its answer. */
    private void callIsUnderWay() {
        connected.call(LATER);
        connected.sendAndServe(ConnectedRing.LOOKS);
        while (client.unanswered() > 0) {
            client.receive();
        }
    }

    /**
     * The server has looked for bells, announces that it sleeps, and looks at the ring once more. A bell that it takes
     * then, together with a completion of its own, is the only one: the client does not ring again for this sleep.
     */
    @Test
    void oneThatIsTakenOnTheWayToSleepIsNotForgotten() {
        callIsUnderWay();
        assertFalse(ring.listen());
        ring.announce(true);
        for (int i = 0; i < 100; i++) {
            // The client sees that the server sleeps, and rings.
            client.receive();
        }
        assertEquals(0, ring.serve());
        boolean rung = false;
        for (int i = 0; !rung && i < 1_000_000; i++) {
            // Each of these takes completions, and so may take the bell's.
            ring.reap();
            ring.reap();
            rung = ring.rung();
        }
        assertTrue(rung, "the bell is forgotten");
        assertFalse(ring.rung(), "it was told of");
        assertTrue(pending.answer(memory.asSlice(0, 8)));
    }

    /** A server that wakes up and sleeps again gets a new bell. */
    @Test
    void eachSleepHasItsBell() {
        callIsUnderWay();
        for (int sleep = 0; sleep < 20; sleep++) {
            assertFalse(ring.listen());
            ring.announce(true);
            assertTrue(bell(), "no bell for sleep " + sleep);
            ring.announce(false);
            client.receive();
        }
    }

    /**
     * The server wakes up while its send queue is full, and so cannot announce that. When it sleeps again, the client,
     * which has rung for the sleep that it knows of, must ring once more.
     */
    @Test
    @Needs(Need.SOFTVERBS)
    void whoCouldNotSayThatItAwokeIsRungForAnew() {
        SoftverbsFaults.delayOperations(1, 50_000_000);
        try {
            connected.call(LATER);
            connected.sendAndServe(100_000_000);
            // More announcements than the send queue takes: the last one that is sent says that the server sleeps.
            for (int word = 0; word < 20; word++) {
                ring.announce(word % 2 == 0);
            }
        } finally {
            SoftverbsFaults.delayOperations(0);
        }
        assertTrue(bell(), "no bell for the first sleep");
        assertFalse(ring.listen());
        ring.announce(true);
        assertTrue(bell(), "no bell for the second sleep");
    }

    /** Whether the client, which polls for an answer, rings. */
    private boolean bell() {
        boolean rung = false;
        for (int i = 0; !rung && i < 1_000_000; i++) {
            client.receive();
            rung = ring.listen();
        }
        return rung;
    }
}
