package io.farheap.procedure.service;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.farheap.procedure.builtin.BuiltIns;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** The procedures that a server translates before a client asks for them. */
class WarmUpTest {

    @Test
    void clientsComeFirst() throws Exception {
        ThreadPoolExecutor translating = new ThreadPoolExecutor(1, 1, 1, TimeUnit.SECONDS, new LinkedBlockingQueue<>());
        try {
            assertEquals(BuiltIns.ALL.size(), WarmUp.run(translating));
            CountDownLatch mayEnd = new CountDownLatch(1);
            translating.execute(() -> awaitQuietly(mayEnd));
            translating.execute(() -> {});
            assertEquals(0, WarmUp.run(translating));
            mayEnd.countDown();
        } finally {
            translating.shutdown();
        }
    }

    private static void awaitQuietly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
