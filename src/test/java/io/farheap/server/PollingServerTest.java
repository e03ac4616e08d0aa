package io.farheap.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import io.farheap.rpc.message.BatchFormat;
import io.farheap.server.contract.ServerOptions;
import io.farheap.server.thread.ServerThread;
import io.farheap.testing.TestDevice;
import io.farheap.thread.idle.Idle;
import io.farheap.verbs.WcStatus;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

/** A server thread that polls sleeps while it has no rings, and at no other time. */
class PollingServerTest {

    private static final int REGION = 64 << 10;
    private static final long LEASE = TestDevice.patience(60_000_000_000L);

    @Test
    void aRingThatComesAsTheThreadFallsAsleepIsPolled() throws Exception {
        CountDownLatch fallsAsleep = new CountDownLatch(1);
        CountDownLatch hasCome = new CountDownLatch(1);
        try (ServerPlane server = ServerPlane.open(
                new ServerOptions(REGION, REGION, LEASE, TestDevice.server(), "test", 1, false, Idle.BACK_OFF))) {
            ServerThread thread = server.threads().thread(0);
            try (HostileClient _ = new HostileClient(server)) {
                // The thread has a ring, so it runs this after the ring has been removed and before it sleeps.
                thread.fail(() -> {
                    fallsAsleep.countDown();
                    try {
                        hasCome.await();
                    } catch (InterruptedException e) {
                        throw new AssertionError(e);
                    }
                });
            }
            fallsAsleep.await();
            // This client sends no wake-up message.
            try (HostileClient client = new HostileClient(server)) {
                hasCome.countDown();
                client.seal(2, BatchFormat.HEADER_BYTES, 0, 0);
                assertEquals(WcStatus.SUCCESS, client.send());
                client.awaitEnd();
                assertFalse(client.answered());
            } finally {
                hasCome.countDown();
            }
        }
    }
}
