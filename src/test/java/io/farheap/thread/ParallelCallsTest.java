package io.farheap.thread;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class ParallelCallsTest {

    @Test
    void allAreCalledAndTheFirstByTheCaller() {
        Set<Integer> called = ConcurrentHashMap.newKeySet();
        Thread[] first = new Thread[1];
        ParallelCalls.run(4, call -> {
            called.add(call);
            if (call == 0) {
                first[0] = Thread.currentThread();
            }
        });
        assertEquals(Set.of(0, 1, 2, 3), called);
        assertSame(Thread.currentThread(), first[0]);
    }

    @Test
    void whereAThreadCannotBeStartedTheOthersHaveEnded() {
        AtomicInteger started = new AtomicInteger();
        AtomicInteger ended = new AtomicInteger();
        Error none = new OutOfMemoryError("no thread");
        Error thrown = assertThrows(
                Error.class,
                () -> ParallelCalls.run(
                        4,
                        task -> {
                            if (started.incrementAndGet() == 2) {
                                throw none;
                            }
                            Thread.ofPlatform().start(task);
                        },
                        call -> ended.incrementAndGet()));
        assertSame(none, thrown);
        assertEquals(3, ended.get());
    }
}
