package io.farheap.remote.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import io.farheap.verbs.VerbsException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Memory that a silent server may still write is closed once the device allows it, and no caller waits for that. */
class DeferredCloserTest {

    private static final int EBUSY = 16;

    private final DeferredCloser late = new DeferredCloser();

    @Test
    void whoClosesDoesNotWait() throws Exception {
        CountDownLatch letGo = new CountDownLatch(1);
        CompletableFuture<Void> first = late.close(letGo::await);
        CompletableFuture<Void> second = late.close(() -> {});
        assertFalse(first.isDone() || second.isDone());
        letGo.countDown();
        second.get(30, TimeUnit.SECONDS);
        first.get(30, TimeUnit.SECONDS);
        // The thread may have ended by now: the next starts another.
        late.close(() -> {}).get(30, TimeUnit.SECONDS);
    }

    @Test
    void whatIsBusyIsTriedAgain() throws Exception {
        AtomicInteger tries = new AtomicInteger();
        late.close(() -> {
                    if (tries.incrementAndGet() < 4) {
                        throw new VerbsException("busy", EBUSY);
                    }
                })
                .get(30, TimeUnit.SECONDS);
        assertEquals(4, tries.get());
    }

    @Test
    void whatCannotBeClosedHoldsNothingUp() throws Exception {
        late.close(() -> {
                    throw new AssertionError("injected");
                })
                .get(30, TimeUnit.SECONDS);
        late.close(() -> {}).get(30, TimeUnit.SECONDS);
    }
}
