package io.farheap.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.cache.Cache;
import io.farheap.cache.CacheSession;
import io.farheap.cache.contract.CacheConfiguration;
import io.farheap.cache.contract.CacheException;
import io.farheap.command.ServerProcess;
import io.farheap.soak.HeldResources;
import io.farheap.testing.TestDevice;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;

/** A memory server, in a process of its own, that does not answer: it is stopped. */
@Isolated("it counts what this process holds")
@Tag("full")
class SilentServerTest {

    private static final long REGION_BYTES = 1 << 20;
    private static final long PATIENCE_SECONDS = TestDevice.patience(90);
    private static final int SESSIONS = 64;
    private static final int AT_ONCE = 3;
    private static final CacheConfiguration BATCHED = CacheConfiguration.DIRECT.with(0, 1, 16, 4);

    private static ServerProcess server(String lease) {
        return TestServer.start(4 * REGION_BYTES, REGION_BYTES, "--lease", lease);
    }

    private static Cache create(ServerProcess server) {
        return Patience.create(() -> Cache.builder()
                .capacity(REGION_BYTES)
                .servers(server.address())
                .configuration(BATCHED)
                .create());
    }

    private static void signal(ServerProcess server, String signal) throws Exception {
        assertEquals(
                0,
                new ProcessBuilder("kill", signal, Long.toString(server.pid()))
                        .start()
                        .waitFor());
    }

    private interface Task {
        void run() throws Exception;
    }

    /** Starts a task on a thread of its own, because the common pool has only one thread on two cores. */
    private static CompletableFuture<Void> start(Task task) {
        CompletableFuture<Void> ended = new CompletableFuture<>();
        Thread.ofPlatform().daemon().start(() -> {
            try {
                task.run();
                ended.complete(null);
            } catch (Throwable e) {
                ended.completeExceptionally(e);
            }
        });
        return ended;
    }

    private static void within(String what, Runnable task) throws InterruptedException, ExecutionException {
        long start = System.nanoTime();
        CompletableFuture<Void> ended = start(task::run);
        try {
            ended.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
        } catch (TimeoutException e) {
            throw new AssertionError(what + " takes longer than " + PATIENCE_SECONDS + " s");
        }
        System.out.println("silent server: " + what + " took " + (System.nanoTime() - start) / 1_000_000 + " ms");
    }

    /** The lease is longer than closing may take; each session has two fences, and each fence alone waits for 5 s. */
    @Test
    void manySessionsWaitForItOnce() throws Exception {
        try (ServerProcess server = server(TestDevice.patience(300) + "s")) {
            Cache cache = create(server);
            List<CacheSession> sessions = new ArrayList<>();
            for (int i = 0; i < SESSIONS; i++) {
                sessions.add(cache.openSession());
            }
            signal(server, "-STOP");
            within("closing half of the sessions", () -> sessions.subList(0, SESSIONS / 2)
                    .forEach(CacheSession::close));
            within("closing the cache", cache::close);
            signal(server, "-CONT");
        }
    }

    /** Memory that a server was writing when it was stopped is closed, too, once the server's process has ended. */
    @Test
    void nothingIsLeft() throws Exception {
        useSeveral();
        awaitLateClose();
        Map<String, Long> descriptors = HeldResources.settled(HeldResources::descriptors);
        Map<String, Long> mappings = HeldResources.settled(HeldResources::sharedMappings);
        Map<String, Long> threads = HeldResources.settled(HeldResources::threads);
        List<String> files = ProcessResources.sharedMemoryFiles();
        useSeveral();
        ProcessResources.assertNoMore(descriptors, HeldResources::descriptors);
        ProcessResources.assertNoMore(mappings, HeldResources::sharedMappings);
        ProcessResources.assertNoMore(threads, HeldResources::threads);
        assertEquals(files, ProcessResources.sharedMemoryFiles());
    }

    /**
     * Waits for the end of the thread that closes memory which a stopped server could still write: the resources that
     * it holds must not count among those before the test.
     */
    private static void awaitLateClose() throws InterruptedException {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
        while (Thread.getAllStackTraces().keySet().stream()
                .anyMatch(thread -> thread.getName().equals("farheap-late-close"))) {
            assertTrue(System.nanoTime() - deadline < 0, "what could be written to late is not closed");
            Thread.sleep(10);
        }
    }

    /** The users run at the same time, because each waits for a lease. */
    private static void useSeveral() {
        List<CompletableFuture<Void>> users = new ArrayList<>();
        for (int i = 0; i < AT_ONCE; i++) {
            users.add(start(SilentServerTest::use));
        }
        users.forEach(CompletableFuture::join);
    }

    private record Used(Cache cache, CacheSession session) {}

    /** If a short lease ends too early, on a busy machine, creates another cache. */
    private static Used usedInTime(ServerProcess server) {
        while (true) {
            Cache cache = create(server);
            try {
                return new Used(cache, cache.openSession());
            } catch (CacheException e) {
                cache.close();
            }
        }
    }

    private static void use() throws Exception {
        try (ServerProcess server = server(TestDevice.shortLease(3) + "s")) {
            Used used = usedInTime(server);
            CompletableFuture<Void> reading = start(() -> {
                MemorySegment bytes = MemorySegment.ofArray(new byte[256]);
                assertThrows(CacheException.class, () -> {
                    while (true) {
                        used.session.readBlocking(0, bytes);
                    }
                });
            });
            Thread.sleep(200);
            signal(server, "-STOP");
            within("a request", reading::join);
            within("closing the cache", used.cache::close);
            server.kill();
        }
    }
}
