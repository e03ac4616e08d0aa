package io.farheap.rpc.batch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.memory.RegisteredMemory;
import io.farheap.rpc.RingShape;
import io.farheap.testing.TestDevice;
import io.farheap.verbs.Access;
import io.farheap.verbs.CompletionQueue;
import io.farheap.verbs.Context;
import io.farheap.verbs.Devices;
import io.farheap.verbs.ProtectionDomain;
import io.farheap.verbs.QueuePair;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

/** A server whose ring takes batches but whose thread answers none, although its process and the lease are alive. */
class StuckServerTest {

    private static final RingShape SHAPE = new RingShape(2, 16);
    private static final long PATIENCE_NANOS = 500_000_000L;

    /** @param sleeping whether the client asks for wake-ups and looks seldom, or polls all the time */
    private static void givesUp(boolean sleeping) {
        try (Context context = Devices.open(TestDevice.client());
                ProtectionDomain domain = context.allocateProtectionDomain();
                CompletionQueue completions = context.createCompletionQueue(4, 1, null);
                RegisteredMemory ring = RegisteredMemory.allocate(
                        domain, "test-ring", SHAPE.requestRingBytes(), Access.LOCAL_WRITE | Access.REMOTE_WRITE);
                QueuePair queuePair = domain.createQueuePair(completions, 2, 0);
                BatchConnection client = new BatchConnection(context, null, SHAPE, 0)) {
            queuePair.connect(client.endpoint());
            // The bell of a client that asks to be woken needs a receive.
            queuePair.postReceive(1);
            client.giveUpAfter(PATIENCE_NANOS);
            client.connect(queuePair.endpoint(), ring.address(), ring.remoteKey());
            client.addRead(0, 0, 8, 0);
            long sent = System.nanoTime();
            assertTrue(client.send());
            while (!client.failed()) {
                if (sleeping) {
                    client.requestWakeUp();
                    LockSupport.parkNanos(10_000_000);
                }
                client.receive();
            }
            assertTrue(System.nanoTime() - sent >= PATIENCE_NANOS, "it gave up too early");
            assertEquals(1, client.ready());
            assertFalse(client.succeeded());
            assertEquals(BatchConnection.LOST, client.status(client.head()));
        }
    }

    @Test
    void aClientThatPollsGivesUp() {
        givesUp(false);
    }

    @Test
    void aClientThatSleepsGivesUp() {
        givesUp(true);
    }
}
