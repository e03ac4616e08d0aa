package io.farheap.cli;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.cache.Buffer;
import io.farheap.cache.Cache;
import io.farheap.cache.CacheBuilder;
import io.farheap.cache.CacheSession;
import io.farheap.cache.contract.CacheException;
import io.farheap.cache.contract.Status;
import io.farheap.command.ManagerProcess;
import io.farheap.command.ServerProcess;
import io.farheap.testing.TestDevice;
import io.farheap.verbs.Devices;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A full server, and a cache on it that is used beyond its time. Manager and server are processes of their own. */
class ExpiredCacheTest {

    private static final long REGION_BYTES = 1 << 20;
    private static final int REGIONS = 4;
    private static final long CAPACITY = REGIONS * REGION_BYTES;
    private static final int STEP = 4096;
    private static final long PATIENCE_SECONDS = TestDevice.patience(60);
    private static final Duration SHORT = Duration.ofSeconds(2);
    /** The client of a cache for this time is notified of its end two seconds after the creation. */
    private static final Duration LATER = Duration.ofSeconds(32);

    @TempDir
    private Path data;

    private ManagerProcess manager;
    private ServerProcess server;
    private final BlockingQueue<String> lost = new LinkedBlockingQueue<>();

    @BeforeEach
    void start() throws Exception {
        manager = ManagerProcess.start(Devices.library(), "127.0.0.1:0", "--data", data.toString());
        server = TestServer.start(CAPACITY, REGION_BYTES, "--manager", manager.address());
    }

    @AfterEach
    void close() {
        if (server != null) {
            server.close();
        }
        manager.close();
    }

    private CacheBuilder builder(long capacity) {
        return Cache.builder().capacity(capacity).manager(manager.address()).device(TestDevice.client());
    }

    /** Creates the first cache, once the server has reported to the manager. */
    private Cache createFirst() throws InterruptedException {
        return createOnceThereIsRoom(
                builder(CAPACITY).duration(SHORT).onLost((_, why, regions) -> lost.add(regions + ": " + why)));
    }

    private static Cache createOnceThereIsRoom(CacheBuilder builder) throws InterruptedException {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
        while (true) {
            try {
                return builder.create();
            } catch (CacheException e) {
                assertTrue(System.nanoTime() - deadline < 0, e::getMessage);
                Thread.sleep(20);
            }
        }
    }

    private static void write(CacheSession session, Buffer buffer, long capacity, long value) {
        for (long at = 0; at < capacity; at += STEP) {
            buffer.segment().set(JAVA_LONG, 0, value + at);
            session.writeBlocking(at, buffer, 0, 8);
        }
    }

    private static void check(CacheSession session, Buffer buffer, long capacity, long value) {
        for (long at = 0; at < capacity; at += STEP) {
            session.readBlocking(at, buffer, 0, 8);
            assertEquals(value == 0 ? 0 : value + at, buffer.segment().get(JAVA_LONG, 0), "at " + at);
        }
    }

    /** Writes to the whole cache until a write fails. */
    private static int writeToTheEnd(Cache cache) {
        try (CacheSession session = cache.openSession();
                Buffer buffer = cache.allocate(8)) {
            for (long value = 1; ; value++) {
                write(session, buffer, CAPACITY, value);
            }
        } catch (CacheException e) {
            return e.status();
        }
    }

    @Test
    void aCacheWhoseTimeIsOverGivesItsRoomToAnother() throws Exception {
        try (Cache first = createFirst()) {
            CompletableFuture<Integer> end = CompletableFuture.supplyAsync(() -> writeToTheEnd(first));
            Cache second = createWhenOver();
            try (second;
                    CacheSession session = second.openSession();
                    Buffer buffer = second.allocate(8)) {
                check(session, buffer, second.capacity(), 0);
                write(session, buffer, second.capacity(), 1L << 40);
                assertEquals(Status.LOST, end.get(PATIENCE_SECONDS, TimeUnit.SECONDS));
                String told = lost.poll(PATIENCE_SECONDS, TimeUnit.SECONDS);
                assertTrue(told != null && told.startsWith(REGIONS + ": its lifetime had passed"), told);
                try (CacheSession late = first.openSession();
                        Buffer other = first.allocate(8)) {
                    CacheException refused =
                            assertThrows(CacheException.class, () -> late.writeBlocking(0, other, 0, 8));
                    assertEquals(Status.LOST, refused.status());
                }
                CacheException refused = assertThrows(CacheException.class, () -> first.extend(Duration.ofHours(1)));
                assertTrue(refused.getMessage().contains("lifetime had passed"), refused.getMessage());
                check(session, buffer, second.capacity(), 1L << 40);
            }
        }
    }

    /** All caches of a process share one connection to the manager. */
    @Test
    @Tag("full")
    void aListenerThatThrowsIsToldOnceAndOthersHear() throws Exception {
        AtomicInteger calls = new AtomicInteger();
        CompletableFuture<Duration> other = new CompletableFuture<>();
        Cache first =
                createOnceThereIsRoom(builder(REGION_BYTES).duration(SHORT).onExpiring(_ -> {
                    calls.incrementAndGet();
                    throw new IllegalStateException("on purpose");
                }));
        try (first;
                Cache _ = builder(REGION_BYTES)
                        .duration(LATER)
                        .onExpiring(other::complete)
                        .create()) {
            long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
            while (!other.isDone() && calls.get() <= 1 && System.nanoTime() - deadline < 0) {
                Thread.sleep(20);
            }
            assertEquals(1, calls.get());
            assertTrue(other.isDone(), "another cache's listener is not told");
        }
    }

    @Test
    @Timeout(300)
    @Tag("full")
    void aListenerMayExtendItsCache() throws Exception {
        CompletableFuture<Cache> created = new CompletableFuture<>();
        CompletableFuture<Boolean> extended = new CompletableFuture<>();
        CacheBuilder builder = builder(REGION_BYTES).duration(LATER).onExpiring(_ -> {
            created.join().extend(Duration.ofHours(1));
            extended.complete(true);
        });
        try (Cache cache = createOnceThereIsRoom(builder)) {
            created.complete(cache);
            assertTrue(extended.get(PATIENCE_SECONDS, TimeUnit.SECONDS));
        }
    }

    /** Creates a second cache, for which there is no room until the first one's time has passed. */
    private Cache createWhenOver() throws InterruptedException {
        return createOnceThereIsRoom(builder(CAPACITY - REGION_BYTES));
    }
}
