package io.farheap.kv.blocks;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.testing.TestDevice;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

class KeeperWakeupTest {

    /** A ring while the keeper sleeps within a call ends that sleep, and the keeper still finds it after the call. */
    @Test
    void aRingDuringACallIsHeardBehindIt() throws Exception {
        AtomicBoolean asked = new AtomicBoolean();
        AtomicReference<KeeperWakeup> bell = new AtomicReference<>();
        CountDownLatch looked = new CountDownLatch(1);
        Thread keeper = Thread.ofPlatform().daemon().unstarted(() -> {
            KeeperWakeup own = bell.get();
            while (true) {
                own.hear();
                if (asked.get()) {
                    return;
                }
                looked.countDown();
                LockSupport.parkNanos(TimeUnit.MINUTES.toNanos(2));
                if (!own.rings()) {
                    LockSupport.parkNanos(TimeUnit.MINUTES.toNanos(2));
                }
            }
        });
        bell.set(new KeeperWakeup(keeper));
        keeper.start();
        looked.await();
        asked.set(true);
        bell.get().ring();
        assertTrue(keeper.join(Duration.ofSeconds(TestDevice.patience(10))), "it sleeps, and was asked");
    }
}
