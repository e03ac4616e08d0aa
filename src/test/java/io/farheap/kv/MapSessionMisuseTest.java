package io.farheap.kv;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.kv.contract.KvHandler;
import io.farheap.kv.contract.KvStatus;
import io.farheap.kv.format.TestKeys;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Uses of a session that are refused, and leave it as it was. */
class MapSessionMisuseTest {

    private static final int REQUESTS = 8;
    private static final byte[] KEY = {1};

    private TestSpace space;
    private MapSession session;

    @BeforeEach
    void open() {
        space = new TestSpace(1, 1, 1 << 20, 1000);
        session = space.map.openSession();
    }

    @AfterEach
    void close() {
        session.close();
        space.close();
    }

    private static MemorySegment key(long number) {
        return MemorySegment.ofArray(TestKeys.bytes(number));
    }

    /** Asserts that a misuse in a callback is refused, and that each request is called back once nevertheless. */
    private void tryInACallback(Runnable misuse) {
        List<Long> handed = new ArrayList<>();
        for (long tag = 0; tag < REQUESTS; tag++) {
            assertTrue(session.set(key(tag), key(tag), tag));
        }
        while (session.inFlight() > 0) {
            session.poll((tag, status, memory, at, bytes) -> {
                handed.add(tag);
                assertEquals(KvStatus.DONE, status);
                assertThrows(IllegalStateException.class, misuse::run);
            });
        }
        assertEquals(LongStream.range(0, REQUESTS).boxed().toList(), handed);
        assertEquals(0, session.inFlight());
        session.set(KEY, KEY);
        assertArrayEquals(KEY, session.get(KEY));
    }

    @Test
    void aCallbackThatPolls() {
        tryInACallback(() -> session.poll((tag, status, memory, at, bytes) -> {}));
    }

    @Test
    void aCallbackThatCloses() {
        tryInACallback(session::close);
    }

    @Test
    void aCallbackThatWaits() {
        tryInACallback(() -> session.await(1));
        tryInACallback(() -> session.get(KEY));
        tryInACallback(session::release);
    }

    @Test
    void aCallbackMayMakeRequests() {
        List<Long> handed = new ArrayList<>();
        KvHandler handler = (tag, status, memory, at, bytes) -> {
            handed.add(tag);
            if (tag < REQUESTS) {
                assertTrue(session.get(key(tag), tag + 1));
            }
        };
        assertTrue(session.get(key(0), 0));
        while (session.inFlight() > 0) {
            session.poll(handler);
        }
        assertEquals(LongStream.rangeClosed(0, REQUESTS).boxed().toList(), handed);
    }

    /** Another thread is refused until the session is released. */
    @Test
    void anotherThread() throws Exception {
        CountDownLatch used = new CountDownLatch(1);
        CountDownLatch refused = new CountDownLatch(1);
        CompletableFuture<Void> thread = new CompletableFuture<>();
        Thread owner = Thread.ofPlatform().start(() -> {
            try {
                session.set(KEY, KEY);
                used.countDown();
                refused.await();
                assertArrayEquals(KEY, session.get(KEY));
                session.release();
                thread.complete(null);
            } catch (Throwable e) {
                thread.completeExceptionally(e);
            } finally {
                used.countDown();
            }
        });
        used.await();
        List<Runnable> uses = List.of(
                () -> session.get(key(0), 0),
                () -> session.get(KEY),
                () -> session.poll((tag, status, memory, at, bytes) -> {}),
                () -> session.await(1),
                session::release,
                session::close);
        try {
            for (Runnable use : uses) {
                assertThrows(IllegalStateException.class, use::run);
            }
        } finally {
            refused.countDown();
        }
        thread.get();
        assertArrayEquals(KEY, session.get(KEY));
        owner.join();
    }

    @Test
    void anotherThreadOnceTheOwnerHasEnded() throws InterruptedException, ExecutionException {
        CompletableFuture<Void> done = new CompletableFuture<>();
        Thread owner = Thread.ofPlatform().start(() -> {
            try {
                session.set(KEY, KEY);
                done.complete(null);
            } catch (Throwable e) {
                done.completeExceptionally(e);
            }
        });
        owner.join();
        done.get();
        assertArrayEquals(KEY, session.get(KEY));
    }
}
