package io.farheap.bench.raw;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** The threads of sessions end before the caches that they access are closed. */
class SessionThreadsTest {

    private static final int SESSIONS = 3;
    private static final long LATER_MILLIS = 100;

    @Test
    void closingInterruptsTheTasksAndWaitsUntilTheyHaveEnded() throws Exception {
        CountDownLatch running = new CountDownLatch(SESSIONS);
        AtomicInteger ended = new AtomicInteger();
        try (SessionThreads threads = new SessionThreads(SESSIONS)) {
            for (int session = 0; session < SESSIONS; session++) {
                threads.submit(session, () -> {
                    running.countDown();
                    while (!Thread.interrupted()) {
                        Thread.onSpinWait();
                    }
                    // An access that is under way ends some time later.
                    Thread.sleep(LATER_MILLIS);
                    return ended.incrementAndGet();
                });
            }
            running.await();
        }
        assertEquals(SESSIONS, ended.get());
    }

    @Test
    void eachSessionHasAThreadOfItsOwn() throws Exception {
        try (SessionThreads threads = new SessionThreads(2)) {
            Thread first = threads.submit(0, Thread::currentThread).get();
            Thread second = threads.submit(1, Thread::currentThread).get();
            assertNotSame(first, second);
            assertSame(first, threads.submit(0, Thread::currentThread).get());
        }
    }
}
