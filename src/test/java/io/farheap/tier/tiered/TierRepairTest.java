package io.farheap.tier.tiered;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.testing.TestDevice;
import io.farheap.tier.MemoryDevice;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** A handle that finds something owed continues although no thread can be started, and one is started later. */
class TierRepairTest {

    private static final int SEGMENT = 4096;

    @Test
    void aThreadThatCannotBeStartedIsStartedLater() {
        List<MemoryDevice> devices = List.of(new MemoryDevice(SEGMENT, 512), new MemoryDevice(SEGMENT, 512));
        TieredLog log = new TieredLog(devices, 0, 0, 512);
        AtomicBoolean refuses = new AtomicBoolean(true);
        AtomicInteger tried = new AtomicInteger();
        AtomicInteger made = new AtomicInteger();
        TierRepair repair = new TierRepair(log, task -> {
            tried.incrementAndGet();
            if (refuses.get()) {
                throw new OutOfMemoryError("of the test");
            }
            made.incrementAndGet();
            return Thread.ofPlatform().unstarted(() -> {});
        });
        log.repairedBy(repair::wake, repair);
        try {
            log.owes();
            assertEquals(0, tried.get(), "nothing is owed");
            log.tiers().last().failed(0, 512);
            log.owes();
            assertEquals(1, tried.get());
            refuses.set(false);
            long deadline = System.nanoTime() + TestDevice.patience(20_000_000_000L);
            while (made.get() == 0) {
                assertTrue(System.nanoTime() - deadline < 0, "it is not tried again");
                log.owes();
                Thread.onSpinWait();
            }
            log.owes();
            assertEquals(1, made.get(), "it runs");
        } finally {
            log.close();
        }
    }
}
