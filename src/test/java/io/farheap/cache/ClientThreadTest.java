package io.farheap.cache;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.farheap.cache.handover.ClientThread;
import io.farheap.cache.handover.HandoverConsumer;
import io.farheap.cache.handover.HandoverPath;
import io.farheap.cache.handover.HandoverRing;
import io.farheap.testing.Fields;
import io.farheap.testing.TestDevice;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** A client thread serves sessions that come and go at the same time. */
class ClientThreadTest {

    private static final int ROUNDS = 100_000;

    private final AtomicInteger arrived = new AtomicInteger();

    @Test
    void looksAtAllThatWereAddedAndAtNoneThatWasRemoved() {
        try (Cluster cluster = new Cluster(1);
                Cache cache = Cache.builder()
                        .capacity(Cluster.REGION_BYTES)
                        .servers(cluster.address(0))
                        .device(TestDevice.client())
                        .configuration(Configurations.HANDED_OVER)
                        .create();
                CacheSession session = cache.openSession()) {
            HandoverPath path = Fields.get(session.core().admission, "path", HandoverPath.class);
            ClientThread thread = Fields.get(path, "thread", ClientThread.class);
            CompletableFuture<Void> other = CompletableFuture.runAsync(() -> comeAndGo(thread));
            comeAndGo(thread);
            other.join();
        }
    }

    private void comeAndGo(ClientThread thread) {
        HandoverConsumer requests = new HandoverConsumer(new HandoverRing(1), () -> {});
        try {
            for (int arrivals = 0; arrivals < 8 * ROUNDS; ) {
                meet(arrivals += 2);
                thread.add(requests);
                meet(arrivals += 2);
                assertEquals(3, looksAt(thread), "the test's and the session's");
                meet(arrivals += 2);
                thread.remove(requests);
                meet(arrivals += 2);
                assertEquals(1, looksAt(thread), "the session's");
            }
        } finally {
            // The other thread must not wait for this one any more.
            arrived.addAndGet(1 << 30);
        }
    }

    /** Waits until both threads have come to this point. */
    private void meet(int arrivals) {
        arrived.incrementAndGet();
        while (arrived.get() < arrivals) {
            Thread.yield();
        }
    }

    private static int looksAt(ClientThread thread) {
        return Fields.get(thread, "rings", HandoverConsumer[].class).length;
    }
}
