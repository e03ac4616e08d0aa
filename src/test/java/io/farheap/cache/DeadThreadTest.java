package io.farheap.cache;

import static io.farheap.testing.Fields.field;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.cache.contract.CacheConfiguration;
import io.farheap.cache.contract.CacheException;
import io.farheap.cache.contract.Status;
import io.farheap.cache.handover.ClientThread;
import io.farheap.cache.order.RequestPath;
import io.farheap.cache.session.DataPath;
import io.farheap.cache.session.SessionAdmission;
import io.farheap.cache.session.SessionCore;
import io.farheap.cache.session.SessionSleeper;
import io.farheap.resilience.contract.Resilience;
import io.farheap.testing.Need;
import io.farheap.testing.Needs;
import io.farheap.testing.TestDevice;
import java.lang.foreign.MemorySegment;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** If an {@code Error} ends one of the cache's threads, the requests that it served end, and no caller hangs. */
class DeadThreadTest {

    private static final long PATIENCE_SECONDS = TestDevice.patience(60);

    private Cluster cluster = new Cluster(4);
    private Cache cache;
    private final AtomicBoolean injecting = new AtomicBoolean();

    private void create(CacheConfiguration configuration) {
        cache = Cache.builder()
                .capacity(Cluster.REGION_BYTES)
                .servers(cluster.address(0))
                .device(TestDevice.client())
                .configuration(configuration)
                .create();
    }

    @AfterEach
    void close() throws Exception {
        within(cache::close);
        cluster.close();
    }

    private static void within(Runnable task) throws Exception {
        CompletableFuture.runAsync(task).get(PATIENCE_SECONDS, TimeUnit.SECONDS);
    }

    /** Makes a session's polls throw an Error once {@code injecting} is set. */
    private void inject(SessionCore session) throws ReflectiveOperationException {
        SessionAdmission admission = session.admission;
        admission.gate().claim();
        RequestPath path = admission.path();
        field(admission, "path")
                .set(
                        admission,
                        Proxy.newProxyInstance(
                                RequestPath.class.getClassLoader(),
                                new Class<?>[] {RequestPath.class},
                                (proxy, method, arguments) -> {
                                    if (method.getName().equals("poll") && injecting.get()) {
                                        throw new OutOfMemoryError("injected");
                                    }
                                    try {
                                        return method.invoke(path, arguments);
                                    } catch (InvocationTargetException e) {
                                        throw e.getCause();
                                    }
                                }));
        admission.gate().unclaim();
    }

    private void clientThreadDies(CacheConfiguration configuration) throws Exception {
        create(configuration);
        CacheSession session = cache.openSession();
        MemorySegment word = MemorySegment.ofArray(new long[1]);
        session.writeBlocking(0, word);
        RequestPath path = session.core().admission.path();
        ClientThread thread = (ClientThread) field(path, "thread").get(path);
        inject((SessionCore) field(thread, "worker").get(thread));
        int[] statuses = new int[4];
        injecting.set(true);
        for (int i = 0; i < statuses.length; i++) {
            int request = i;
            statuses[i] = -1;
            assertTrue(session.read(0, word, (token, status) -> statuses[request] = status, i));
        }
        session.drain();
        for (int status : statuses) {
            assertEquals(Status.LOST, status);
        }
        assertEquals(
                Status.LOST,
                assertThrows(CacheException.class, () -> session.writeBlocking(0, word))
                        .status());
        assertTrue(thread.dead());
        session.close();
        if (configuration.clientThreads() == 1) {
            String refused =
                    assertThrows(CacheException.class, cache::openSession).getMessage();
            assertTrue(refused.contains("reconfigure"), refused);
        } else {
            // The other client thread serves all new sessions.
            for (int i = 0; i < 4; i++) {
                try (CacheSession other = cache.openSession()) {
                    other.writeBlocking(0, word);
                }
            }
        }
        cache.reconfigure(configuration.withQueueDepth(2));
        try (CacheSession other = cache.openSession()) {
            other.writeBlocking(0, word);
        }
    }

    @Test
    void aClientThreadsRequestsAreLost() throws Exception {
        clientThreadDies(Configurations.HANDED_OVER);
    }

    @Test
    void aClientThreadsBatchesAreLost() throws Exception {
        clientThreadDies(Configurations.HANDED_OVER_BATCHED);
    }

    /** The dead thread's writes are void, and sessions of another client thread can write the same pages. */
    @Test
    void aCodedCachesPagesAreFreeAgain() throws Exception {
        cluster.close();
        cluster = new Cluster(1, 1, 1);
        cache = Cache.builder()
                .capacity(4096)
                .servers(cluster.addresses())
                .device(TestDevice.client())
                .configuration(CacheConfiguration.DIRECT.with(2, 0, 1, 8))
                .resilience(Resilience.failureRecovery(2, 1))
                .create();
        CacheSession session = cache.openSession();
        CacheSession other = cache.openSession();
        MemorySegment page = MemorySegment.ofArray(new byte[4096]);
        session.writeBlocking(0, page);
        other.writeBlocking(0, page);
        RequestPath path = session.core().admission.path();
        ClientThread thread = (ClientThread) field(path, "thread").get(path);
        inject((SessionCore) field(thread, "worker").get(thread));
        injecting.set(true);
        int[] ended = {-1};
        assertTrue(session.write(0, page, (token, status) -> ended[0] = status, 0));
        session.drain();
        assertEquals(Status.LOST, ended[0]);
        assertTrue(thread.dead());
        other.writeBlocking(0, page);
        try (CacheSession next = cache.openSession()) {
            next.writeBlocking(0, page);
        }
    }

    @Test
    void futuresFail() throws Exception {
        create(Configurations.DIRECT);
        FutureCacheSession futures = cache.openFutureSession();
        MemorySegment word = MemorySegment.ofArray(new long[1]);
        futures.write(0, word).get(PATIENCE_SECONDS, TimeUnit.SECONDS);
        inject(((CacheSession) field(futures, "session").get(futures)).core());
        injecting.set(true);
        List<CompletableFuture<Void>> all = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            all.add(futures.read(0, word));
        }
        for (CompletableFuture<Void> future : all) {
            assertThrows(CompletionException.class, future.orTimeout(PATIENCE_SECONDS, TimeUnit.SECONDS)::join);
            assertNotEquals(
                    java.util.concurrent.TimeoutException.class,
                    future.exceptionNow().getClass());
        }
        within(futures::close);
        try (CacheSession other = cache.openSession()) {
            other.writeBlocking(0, word);
        }
    }

    /**
     * Returns while a thread sleeps in a late read. On a busy machine this thread may not see the sleeper before the
     * read ends: then it begins another read.
     */
    private static CompletableFuture<Void> asleepInALateRead(CacheSession session, MemorySegment word)
            throws Exception {
        SessionSleeper sleeps = session.core().sleeper;
        Field sleeper = field(sleeps, "sleeper");
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
        while (true) {
            LateOperations.by(2, TimeUnit.SECONDS);
            try {
                CompletableFuture<Void> reading = CompletableFuture.runAsync(() -> session.readBlocking(0, word));
                while (!reading.isDone()) {
                    if (sleeper.get(sleeps) != null) {
                        return reading;
                    }
                    Thread.onSpinWait();
                }
                reading.join();
            } finally {
                LateOperations.no();
            }
            assertTrue(System.nanoTime() - deadline < 0, "whoever reads goes to sleep");
        }
    }

    /** A sleeping thread looks for completions by itself from time to time. */
    @Test
    @Needs(Need.LATE_OPERATIONS)
    void whoSleepsForACompletionGetsItWithoutEvents() throws Exception {
        create(Configurations.DIRECT);
        MemorySegment word = MemorySegment.ofArray(new long[1]);
        CacheSession asleep = cache.openSession();
        CompletableFuture<Void> sleeping = asleepInALateRead(asleep, word);
        CacheSession other = cache.openSession();
        DataPath path = (DataPath) field(other.core().dataPath, "now").get(other.core().dataPath);
        ((RegionCache) cache).device().events().add(path.channel(), () -> {
            throw new OutOfMemoryError("injected");
        });
        path.requests().listen();
        Buffer buffer = cache.allocate(8);
        boolean[] done = {false};
        assertTrue(other.read(0, buffer, 0, 8, (token, status) -> done[0] = true, 0));
        Thread events = (Thread) field(((RegionCache) cache).device().events(), "thread")
                .get(((RegionCache) cache).device().events());
        assertTrue(events.join(java.time.Duration.ofSeconds(PATIENCE_SECONDS)), "the thread of events ends");
        sleeping.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
        other.drain();
        assertTrue(done[0]);
        LateOperations.by(1, TimeUnit.SECONDS);
        CompletableFuture<Void> next = CompletableFuture.runAsync(() -> {
            try (CacheSession later = cache.openSession()) {
                later.readBlocking(0, word);
            }
        });
        LateOperations.no();
        next.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
    }
}
