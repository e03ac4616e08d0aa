package io.farheap.testing;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/** Threads that are interrupted before they wait for something. */
public final class Interrupts {

    private static final long PATIENCE_SECONDS = 60;

    private Interrupts() {}

    /**
     * Fails unless an interrupted thread sleeps while it waits. Parking returns at once in an interrupted thread, so
     * the thread must set the interrupt aside while it sleeps, and restore it at the end.
     *
     * @param work waits until {@code end} has run, on a thread of its own
     */
    public static void assertSleeps(Runnable work, Runnable end) throws Exception {
        CountDownLatch interrupted = new CountDownLatch(1);
        AtomicBoolean ended = new AtomicBoolean();
        CompletableFuture<Boolean> kept = new CompletableFuture<>();
        Thread thread = Thread.ofPlatform().daemon().start(() -> {
            Thread.currentThread().interrupt();
            interrupted.countDown();
            try {
                work.run();
                ended.set(true);
                kept.complete(Thread.interrupted());
            } catch (Throwable e) {
                ended.set(true);
                kept.completeExceptionally(e);
            }
        });
        interrupted.await();
        long deadline = System.nanoTime() + TestDevice.patience(TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS));
        boolean slept = false;
        while (!slept && thread.isAlive() && System.nanoTime() - deadline < 0) {
            slept = !thread.isInterrupted();
            Thread.onSpinWait();
        }
        slept &= !ended.get();
        end.run();
        boolean there = kept.get(TestDevice.patience(PATIENCE_SECONDS), TimeUnit.SECONDS);
        thread.join();
        assertTrue(slept, "it never slept");
        assertTrue(there, "the interrupt is gone");
    }
}
