package io.farheap.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.store.checkpoint.MemoryFiles;
import io.farheap.store.contract.CheckpointKind;
import io.farheap.store.contract.StoreCompletion;
import io.farheap.store.contract.StoreException;
import io.farheap.store.contract.StoreStatus;
import io.farheap.store.contract.Update;
import io.farheap.tier.MemoryDevice;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;

/** A store that is closed while other threads use it. */
class CloseTest {

    private static final int SESSIONS = 3;
    private static final int KEYS = 5_000;

    private static FarStoreBuilder how(MemoryDevice device) {
        return FarStore.builder()
                .device(device)
                .pageBytes(4096)
                .memory(8 * 4096)
                .expectedKeys(64)
                .records(40, 24)
                .pending(16)
                .checkpoints(CheckpointKind.INCREMENTAL)
                .checkpointOnClose(false)
                .files(new MemoryFiles());
    }

    /** Sessions, scans, compactions and checkpoints that are under way end with an exception that names the close. */
    @RepeatedTest(10)
    void whoIsInTheMiddleOfAnOperationIsTold() throws Exception {
        try (MemoryDevice device = new MemoryDevice(1 << 14, 512);
                ExecutorService threads = Executors.newFixedThreadPool(SESSIONS + 2)) {
            FarStore store = how(device).open();
            AtomicLong done = new AtomicLong();
            List<Future<?>> ends = new ArrayList<>();
            for (int i = 0; i < SESSIONS; i++) {
                ends.add(threads.submit(() -> use(store, done)));
            }
            ends.add(threads.submit(() -> {
                while (true) {
                    store.scan((record, key, keyBytes, value, valueBytes) -> true);
                    store.compact(8192);
                }
            }));
            ends.add(threads.submit(() -> {
                while (true) {
                    store.checkpoint();
                }
            }));
            while (done.get() < 20_000 && ends.stream().noneMatch(Future::isDone)) {
                Thread.sleep(1);
            }
            store.close();
            for (Future<?> end : ends) {
                Throwable cause = assertThrows(Exception.class, end::get).getCause();
                boolean told = cause instanceof IllegalStateException || cause instanceof StoreException;
                assertTrue(told && cause.getMessage().contains("close"), () -> cause.toString());
            }
        }
    }

    private static void use(FarStore store, AtomicLong done) {
        try (StoreSession session = store.openSession();
                Arena arena = Arena.ofConfined()) {
            MemorySegment memory = arena.allocate(64);
            for (long key = 0; ; key = (key + 1) % KEYS) {
                memory.set(java.lang.foreign.ValueLayout.JAVA_LONG, 0, key);
                memory.set(java.lang.foreign.ValueLayout.JAVA_LONG, 8, key);
                session.upsert(memory, 0, 16, memory, 0, 16);
                session.update(memory, 0, 16, Values.ADD, 1, (token, status, bytes) -> {}, 0);
                session.read(memory, 0, 16, memory, 16, 40, (token, status, bytes) -> {}, 0);
                session.poll();
                done.incrementAndGet();
            }
        }
    }

    @Test
    void aCallbackCannotCloseItsStore() {
        try (MemoryDevice device = new MemoryDevice(1 << 14, 512);
                Arena arena = Arena.ofConfined();
                FarStore store = how(device).open();
                StoreSession session = store.openSession()) {
            MemorySegment memory = arena.allocate(64);
            for (long key = 0; key < KEYS; key++) {
                new BlockingStoreSession(session).upsert(key, memory, 0, 24);
            }
            List<String> told = new ArrayList<>();
            StoreCompletion closes = (token, status, bytes) -> told.add(
                    assertThrows(IllegalStateException.class, store::close).getMessage());
            assertEquals(StoreStatus.PENDING, session.read(1, memory, 0, 64, closes, 0));
            session.drain();
            assertEquals(1, told.size());
            assertTrue(told.getFirst().contains("callback"), told.getFirst());
            assertEquals(StoreStatus.DONE, session.upsert(1, memory, 0, 24));
        }
    }

    /** Nor can the last callback, after which nothing is pending; the session can be closed afterwards. */
    @Test
    void aCallbackCannotCloseItsSession() {
        try (MemoryDevice device = new MemoryDevice(1 << 14, 512);
                Arena arena = Arena.ofConfined();
                FarStore store = how(device).open();
                StoreSession session = store.openSession()) {
            MemorySegment memory = arena.allocate(64);
            for (long key = 0; key < KEYS; key++) {
                new BlockingStoreSession(session).upsert(key, memory, 0, 24);
            }
            List<String> told = new ArrayList<>();
            StoreCompletion closes = (token, status, bytes) -> {
                assertThrows(IllegalStateException.class, session::poll);
                told.add(assertThrows(IllegalStateException.class, session::close)
                        .getMessage());
            };
            assertEquals(StoreStatus.PENDING, session.read(1, memory, 0, 64, closes, 0));
            assertEquals(StoreStatus.PENDING, session.read(2, memory, 0, 64, closes, 0));
            session.drain();
            assertEquals(2, told.size());
            assertEquals(24, new BlockingStoreSession(session).read(1, memory, 0, 64));
            told.forEach(message -> assertTrue(message.contains("a callback cannot close its session"), message));
        }
    }

    @Test
    void anUpdateClosesNeitherItsStoreNorItsSession() {
        try (MemoryDevice device = new MemoryDevice(1 << 14, 512);
                MemoryDevice another = new MemoryDevice(1 << 14, 512);
                Arena arena = Arena.ofConfined();
                FarStore store = how(device).open();
                FarStore other = how(another).open();
                StoreSession session = store.openSession()) {
            MemorySegment memory = arena.allocate(64);
            session.upsert(1, memory, 0, 24);
            List<String> told = new ArrayList<>();
            Update closes = new Doing(() -> {
                told.add(assertThrows(IllegalStateException.class, store::close).getMessage());
                told.add(assertThrows(IllegalStateException.class, session::close)
                        .getMessage());
                other.close();
            });
            assertEquals(StoreStatus.DONE, session.update(1, closes, 0, (token, status, bytes) -> {}, 0));
            assertEquals(2, told.size());
            told.forEach(message -> assertTrue(message.contains("update"), message));
            assertThrows(IllegalStateException.class, other::openSession);
            assertEquals(StoreStatus.DONE, session.upsert(1, memory, 0, 24));
        }
    }

    /** If a pending update throws while its session is closed, the close throws it, and the session is closed. */
    @Test
    void aSessionWhosePendingUpdateThrowsIsClosed() {
        try (MemoryDevice device = new MemoryDevice(1 << 14, 512);
                Arena arena = Arena.ofConfined();
                FarStore store = how(device).open()) {
            StoreSession session = store.openSession("a");
            MemorySegment memory = arena.allocate(64);
            for (long key = 0; key < KEYS; key++) {
                new BlockingStoreSession(session).upsert(key, memory, 0, 24);
            }
            List<Integer> statuses = new ArrayList<>();
            StoreCompletion completion = (token, status, bytes) -> statuses.add(status);
            Update throwing = new Doing(() -> {
                throw new ArithmeticException("of the update");
            });
            assertEquals(StoreStatus.PENDING, session.update(1, throwing, 0, completion, 0));
            assertEquals(StoreStatus.PENDING, session.update(2, throwing, 0, completion, 0));
            assertEquals(StoreStatus.PENDING, session.read(3, memory, 0, 64, completion, 0));
            assertThrows(ArithmeticException.class, session::close);
            assertEquals(3, statuses.size());
            assertTrue(statuses.contains(StoreStatus.THREW) && statuses.contains(StoreStatus.DONE), statuses::toString);
            session.close();
            store.openSession("a").close();
        }
    }

    @Test
    void itWaitsForWhoIsInsideAndCallsBackWhatIsPending() throws Exception {
        try (MemoryDevice device = new MemoryDevice(1 << 14, 512);
                Arena arena = Arena.ofShared();
                ExecutorService threads = Executors.newFixedThreadPool(2)) {
            FarStore store = how(device).open();
            StoreSession session = store.openSession();
            MemorySegment memory = arena.allocate(64);
            for (long key = 0; key < KEYS; key++) {
                new BlockingStoreSession(session).upsert(key, memory, 0, 24);
            }
            List<Integer> statuses = new ArrayList<>();
            assertEquals(
                    StoreStatus.PENDING,
                    session.read(1, memory, 0, 64, (token, status, bytes) -> statuses.add(status), 0));
            CountDownLatch inside = new CountDownLatch(1);
            CountDownLatch go = new CountDownLatch(1);
            StoreSession other = store.openSession();
            Future<Integer> waiting = threads.submit(
                    () -> other.update(KEYS - 1, new StandingStill(inside, go), 0, (token, status, bytes) -> {}, 0));
            inside.await();
            Future<?> closing = threads.submit(store::close);
            // No session can begin an operation any more, and the close waits for the update that is under way.
            IllegalStateException told = assertThrows(IllegalStateException.class, () -> {
                while (true) {
                    session.touch(1);
                }
            });
            assertTrue(told.getMessage().contains("closed"), told.getMessage());
            assertFalse(closing.isDone());
            go.countDown();
            assertEquals(StoreStatus.DONE, waiting.get());
            closing.get();
            assertThrows(IllegalStateException.class, session::poll);
            assertThrows(IllegalStateException.class, () -> session.read(1, memory, 0, 64, (t, s, b) -> {}, 0));
            assertEquals(List.of(), statuses);
            session.close();
            assertEquals(List.of(StoreStatus.CLOSED), statuses);
            session.close();
        }
    }

    /**
     * No thread is left that could close the session, so the store closes it. Otherwise the device could not be closed,
     * which refuses while a handle is open.
     */
    @Test
    void aSessionWhoseThreadHasEndedIsClosedWithTheStore() throws Exception {
        try (MemoryDevice device = new MemoryDevice(1 << 14, 512);
                Arena arena = Arena.ofShared()) {
            FarStore store = how(device).open();
            MemorySegment memory = arena.allocate(64);
            List<Integer> statuses = new ArrayList<>();
            Thread thread = new Thread(() -> {
                StoreSession session = store.openSession("of a thread that ends");
                for (long key = 0; key < KEYS; key++) {
                    new BlockingStoreSession(session).upsert(key, memory, 0, 24);
                }
                session.read(1, memory, 0, 64, (token, status, bytes) -> statuses.add(status), 0);
            });
            thread.start();
            thread.join();
            assertEquals(List.of(), statuses);
            store.close();
            assertEquals(1, statuses.size());
        }
    }

    /**
     * Nothing is pending, so the close itself has to refuse, and not the poll of a pending operation. The session stays
     * usable, and another thread can close it after its release.
     */
    @Test
    void anotherThreadCannotCloseASessionThatStaysWhole() throws Exception {
        try (MemoryDevice device = new MemoryDevice(1 << 14, 512);
                Arena arena = Arena.ofShared();
                FarStore store = how(device).open()) {
            StoreSession session = store.openSession("a");
            MemorySegment memory = arena.allocate(64);
            for (long key = 0; key < KEYS; key++) {
                new BlockingStoreSession(session).upsert(key, memory, 0, 24);
            }
            assertEquals(24, new BlockingStoreSession(session).read(1, memory, 0, 64));
            assertEquals(0, session.pending());
            refusedToAnother(session);
            assertThrows(IllegalStateException.class, () -> store.openSession("a"));
            assertEquals(24, new BlockingStoreSession(session).read(2, memory, 0, 64));
            session.release();
            assertNull(elsewhere(session::close));
            store.openSession("a").close();
            session.close();
            assertThrows(IllegalStateException.class, session::poll);
        }
    }

    /** The store has left the session to its thread, with a read on which the device may still work. */
    @Test
    void anotherThreadCannotCloseASessionWhoseStoreIsClosed() throws Exception {
        try (MemoryDevice device = new MemoryDevice(1 << 14, 512);
                Arena arena = Arena.ofShared()) {
            FarStore store = how(device).open();
            StoreSession session = store.openSession();
            MemorySegment memory = arena.allocate(64);
            for (long key = 0; key < KEYS; key++) {
                new BlockingStoreSession(session).upsert(key, memory, 0, 24);
            }
            List<Integer> statuses = new ArrayList<>();
            StoreCompletion completion = (token, status, bytes) -> statuses.add(status);
            assertEquals(StoreStatus.PENDING, session.read(1, memory, 0, 64, completion, 0));
            assertNull(elsewhere(store::close));
            refusedToAnother(session);
            assertEquals(List.of(), statuses);
            session.close();
            assertEquals(List.of(StoreStatus.CLOSED), statuses);
        }
    }

    private static void refusedToAnother(StoreSession session) throws Exception {
        Throwable told = elsewhere(session::close);
        assertInstanceOf(IllegalStateException.class, told);
        assertEquals(0, told.getSuppressed().length);
        assertTrue(told.getMessage().contains("belongs to thread"), told.getMessage());
    }

    /** @return the exception that the work throws on a thread of its own, or null */
    private static @Nullable Throwable elsewhere(Runnable work) throws InterruptedException {
        AtomicReference<Throwable> thrown = new AtomicReference<>();
        Thread thread = new Thread(() -> {
            try {
                work.run();
            } catch (Throwable e) {
                thrown.set(e);
            }
        });
        thread.start();
        thread.join();
        return thrown.get();
    }
}
