package io.farheap.cache;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.cache.contract.CacheConfiguration;
import io.farheap.testing.TestDevice;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Batches that only ask for a wake-up. */
class WakeUpTest {

    private static final int READS = 200;

    /**
     * The smallest ring has one place besides that of a wake-up. A virtual thread does not spin, so nearly every read
     * asks for a wake-up.
     */
    @Test
    void theirPlacesAreFreeAgain() throws InterruptedException {
        int[] done = {0};
        try (Cluster cluster = new Cluster(1, 1);
                Cache cache = Cache.builder()
                        .capacity(Cluster.REGION_BYTES)
                        .servers(cluster.address(0))
                        .device(TestDevice.client())
                        .configuration(CacheConfiguration.DIRECT.with(0, 1, 16, 1))
                        .create();
                CacheSession session = cache.openSession()) {
            Thread reader = Thread.ofVirtual().start(() -> {
                // The destination is on the heap, because a read into a buffer would be one-sided.
                MemorySegment destination = MemorySegment.ofArray(new byte[8]);
                for (; done[0] < READS; done[0]++) {
                    session.readBlocking(0, destination);
                }
                session.release();
            });
            assertTrue(
                    reader.join(Duration.ofSeconds(TestDevice.patience(60))),
                    () -> "it hangs after " + done[0] + " reads");
            assertEquals(READS, done[0]);
        }
    }
}
