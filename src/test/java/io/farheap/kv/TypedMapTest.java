package io.farheap.kv;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.kv.contract.MapException;
import io.farheap.kv.contract.VersionedValue;
import io.farheap.testing.Interrupts;
import io.farheap.testing.TestDevice;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class TypedMapTest {

    private static final Duration FOR_EVER = Duration.ZERO;

    private TestSpace space;

    @BeforeEach
    void open() {
        space = new TestSpace(1, 2, 1 << 20, 1000);
    }

    @AfterEach
    void close() {
        space.close();
    }

    @Test
    void typesGoInAndComeOut() {
        try (TypedMap<String, Long> counts = space.map.openTyped(Codec.STRING, Codec.LONG);
                TypedMap<Long, byte[]> bytes = space.map.openTyped(Codec.LONG, Codec.BYTES)) {
            assertNull(counts.get("a"));
            assertFalse(counts.replace("a", 1L, FOR_EVER));
            assertTrue(counts.add("a", 40L, FOR_EVER));
            assertEquals(OptionalLong.of(42), counts.increment("a", 2));
            assertEquals(42L, counts.get("a"));
            counts.set("a", -1L);
            assertTrue(counts.touch("a", Duration.ofSeconds(Long.MAX_VALUE)));
            assertEquals(-1L, counts.get("a"));
            assertTrue(counts.touch("a", Duration.ofNanos(1)));
            space.clock.millis = 1;
            assertNull(counts.get("a"));
            assertFalse(counts.delete("a"));
            bytes.set(7L, new byte[] {1, 2, 3});
            assertArrayEquals(new byte[] {1, 2, 3}, bytes.get(7L));
            assertTrue(bytes.delete(7L));
        }
    }

    @Test
    void futuresOfManyThreadsAreOfTheirRequests() throws Exception {
        try (FutureMapSession futures = space.map.openFutureSession();
                ExecutorService executor = Executors.newFixedThreadPool(4)) {
            List<Future<Void>> running = new ArrayList<>();
            for (int thread = 0; thread < 4; thread++) {
                byte[] key = {(byte) thread};
                Callable<Void> client = () -> {
                    for (int i = 0; i < 300; i++) {
                        byte[] value = {(byte) i, (byte) (i >> 8)};
                        var stored = futures.set(key, value, 0);
                        var found = futures.getVersioned(key);
                        stored.get();
                        VersionedValue versioned = found.get();
                        assertArrayEquals(value, versioned.value());
                        assertTrue(futures.compareAndSet(key, new byte[8], versioned.version(), 0)
                                .get());
                        assertEquals(
                                OptionalLong.of(i), futures.increment(key, i).get());
                    }
                    return null;
                };
                running.add(executor.submit(client));
            }
            for (Future<Void> one : running) {
                one.get();
            }
        }
    }

    @Test
    void whatCannotBeAskedForFailsAlone() throws Exception {
        FutureMapSession futures = space.map.openFutureSession();
        var refused = futures.set(new byte[0], new byte[1], 0);
        var late = futures.add(new byte[1], new byte[1], -1);
        var stored = futures.add(new byte[] {1}, new byte[] {2}, 0);
        assertTrue(stored.get());
        assertInstanceOf(
                IllegalArgumentException.class,
                assertThrows(ExecutionException.class, refused::get).getCause());
        assertThrows(ExecutionException.class, late::get);
        var number = futures.increment(new byte[] {1}, 1);
        assertInstanceOf(
                MapException.class,
                assertThrows(ExecutionException.class, number::get).getCause());
        Thread caller = Thread.currentThread();
        CompletableFuture<Void> inAction;
        do {
            // If the future is complete already, the caller's thread runs the action.
            inAction = futures.get(new byte[] {1}).thenAccept(found -> {
                if (Thread.currentThread() != caller) {
                    futures.close();
                }
            });
            inAction.exceptionally(failure -> null).join();
        } while (!inAction.isCompletedExceptionally());
        assertThrows(CompletionException.class, inAction::join);
        var last = futures.get(new byte[] {1});
        futures.close();
        assertArrayEquals(new byte[] {2}, last.get());
        assertInstanceOf(
                IllegalStateException.class,
                assertThrows(ExecutionException.class, () -> futures.get(new byte[1])
                                .get())
                        .getCause());
    }

    /** If each request begins the next one, the request that comes after the close fails. */
    @Test
    void whoAsksAgainAndAgainDoesNotKeepASessionFromClosing() throws Exception {
        FutureMapSession futures = space.map.openFutureSession();
        CompletableFuture<Throwable> end = new CompletableFuture<>();
        askAgain(futures, end);
        CompletableFuture.runAsync(futures::close).get(TestDevice.patience(20), TimeUnit.SECONDS);
        assertInstanceOf(IllegalStateException.class, end.get(TestDevice.patience(20), TimeUnit.SECONDS));
    }

    private static void askAgain(FutureMapSession futures, CompletableFuture<Throwable> end) {
        futures.set(new byte[] {1}, new byte[] {2}, 0).whenComplete((stored, failure) -> {
            if (failure == null) {
                askAgain(futures, end);
            } else {
                end.complete(failure instanceof CompletionException ? failure.getCause() : failure);
            }
        });
    }

    @Test
    void aMapThatIsClosedClosesItsFutures() {
        FutureMapSession futures = space.map.openFutureSession();
        space.map.close();
        assertThrows(ExecutionException.class, () -> futures.get(new byte[1]).get());
        futures.close();
    }

    /** The map's close would wait for the action that calls it, so it is refused, like that of a session of futures. */
    @Test
    void anActionOfAFutureClosesNoMapThatAnotherThreadCloses() throws Exception {
        FutureMapSession futures = space.map.openFutureSession();
        CountDownLatch acting = new CountDownLatch(1);
        CountDownLatch go = new CountDownLatch(1);
        Thread caller = Thread.currentThread();
        CompletableFuture<Boolean> closes;
        do {
            // If the future is complete already, the caller's thread runs the action.
            closes = futures.set(new byte[] {1}, new byte[] {2}, 0).handle((stored, failure) -> {
                if (Thread.currentThread() == caller) {
                    return false;
                }
                acting.countDown();
                return awaits(go)
                        && assertThrows(IllegalStateException.class, space.map::close) != null
                        && assertThrows(IllegalStateException.class, space.map::drop) != null;
            });
        } while (closes.isDone());
        acting.await();
        Thread closing = Thread.ofPlatform().start(space.map::close);
        while (closing.getState() == Thread.State.NEW || closing.getState() == Thread.State.RUNNABLE) {
            Thread.onSpinWait();
        }
        go.countDown();
        assertTrue(closes.get(TestDevice.patience(30), TimeUnit.SECONDS));
        closing.join();
    }

    private static boolean awaits(CountDownLatch latch) {
        try {
            latch.await();
            return true;
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void oneLoaderRunsForAKeyAtATime() throws Exception {
        int threads = 12;
        AtomicInteger loads = new AtomicInteger();
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch go = new CountDownLatch(1);
        try (TypedMap<String, String> map = space.map.openTyped(Codec.STRING, Codec.STRING);
                ExecutorService executor = Executors.newFixedThreadPool(threads)) {
            List<Future<String>> running = new ArrayList<>();
            for (int i = 0; i < threads; i++) {
                running.add(executor.submit(() -> map.get("key", key -> {
                    begun.countDown();
                    wait(go);
                    return key + loads.incrementAndGet();
                })));
            }
            begun.await();
            assertEquals("other", map.get("other", key -> key));
            go.countDown();
            for (Future<String> one : running) {
                assertEquals("key1", one.get());
            }
            assertEquals(1, loads.get());
            assertEquals("key1", map.get("key"));
        }
    }

    private static void wait(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void aLoaderThatThrowsFailsAllWhoWaitAndStoresNothing() throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch go = new CountDownLatch(1);
        AtomicReference<Thread> waiter = new AtomicReference<>();
        IllegalStateException failure = new IllegalStateException("no such thing");
        try (TypedMap<String, String> map = space.map.openTyped(Codec.STRING, Codec.STRING);
                ExecutorService executor = Executors.newFixedThreadPool(2)) {
            Future<String> loader = executor.submit(() -> map.get("key", key -> {
                begun.countDown();
                wait(go);
                throw failure;
            }));
            begun.await();
            Future<String> waiting = executor.submit(() -> {
                waiter.set(Thread.currentThread());
                return map.get("key", key -> "nobody asks this one");
            });
            while (waiter.get() == null || waiter.get().getState() != Thread.State.WAITING) {
                Thread.onSpinWait();
            }
            assertThrows(IllegalArgumentException.class, () -> map.get("none", key -> null));
            go.countDown();
            assertSame(
                    failure, assertThrows(ExecutionException.class, loader::get).getCause());
            // The second thread may have waited for the map and not for the loader, and then called its own loader.
            try {
                assertEquals("nobody asks this one", waiting.get());
                assertTrue(map.delete("key"));
            } catch (ExecutionException e) {
                assertSame(failure, e.getCause());
            }
            assertNull(map.get("key"));
            assertEquals("again", map.get("key", key -> "again"));
        }
    }

    @Test
    void whatWasSetWhileALoaderRanStays() {
        try (TypedMap<String, String> map = space.map.openTyped(Codec.STRING, Codec.STRING)) {
            assertEquals("newer", map.get("key", key -> {
                map.set(key, "newer");
                return "older";
            }));
            assertEquals("newer", map.get("key"));
            assertThrows(IllegalStateException.class, () -> map.get("own", key -> map.get(key, inner -> "never")));
            assertNull(map.get("own"));
        }
    }

    @Test
    void aWaiterThatIsInterruptedGoesOnAndTheLoaderToo() throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch go = new CountDownLatch(1);
        AtomicReference<Throwable> met = new AtomicReference<>();
        try (TypedMap<String, String> map = space.map.openTyped(Codec.STRING, Codec.STRING);
                ExecutorService executor = Executors.newSingleThreadExecutor()) {
            Future<String> loader = executor.submit(() -> map.get("key", key -> {
                begun.countDown();
                wait(go);
                return "value";
            }));
            begun.await();
            Thread waiter = Thread.ofPlatform().start(() -> {
                try {
                    map.get("key", key -> "another");
                } catch (MapException e) {
                    met.set(Thread.currentThread().isInterrupted() ? e : new AssertionError("not interrupted", e));
                }
            });
            waiter.interrupt();
            waiter.join();
            assertInstanceOf(MapException.class, met.get());
            go.countDown();
            assertEquals("value", loader.get());
        }
    }

    @Test
    void anInterruptedThreadSleepsWhileItWaits() throws Exception {
        AtomicBoolean stop = new AtomicBoolean();
        try (MapSession session = space.map.openSession()) {
            Interrupts.assertSleeps(
                    () -> {
                        while (!stop.get()) {
                            session.await(TimeUnit.SECONDS.toNanos(1));
                        }
                    },
                    () -> stop.set(true));
        }
    }

    @Test
    void codecsThatBreakTheirWordAreNamed() {
        Codec<String> broken = new Codec<>() {
            @Override
            @SuppressWarnings("NullAway")
            public byte[] encode(String value) {
                return null;
            }

            @Override
            @SuppressWarnings("NullAway")
            public String decode(byte[] bytes) {
                return null;
            }
        };
        try (TypedMap<String, String> map = space.map.openTyped(Codec.STRING, broken);
                TypedMap<String, String> text = space.map.openTyped(Codec.STRING, Codec.STRING);
                TypedMap<String, Long> numbers = space.map.openTyped(Codec.STRING, Codec.LONG)) {
            assertNotNull(assertThrows(IllegalArgumentException.class, () -> map.set("a", "b")));
            text.set("a", "three");
            assertThrows(IllegalArgumentException.class, () -> map.get("a"));
            assertThrows(IllegalArgumentException.class, () -> numbers.get("a"));
            assertThrows(MapException.class, () -> numbers.increment("a", 1));
            assertThrows(IllegalArgumentException.class, () -> text.set("", "empty key"));
            assertThrows(IllegalArgumentException.class, () -> text.touch("a", Duration.ofMillis(-1)));
        }
    }
}
