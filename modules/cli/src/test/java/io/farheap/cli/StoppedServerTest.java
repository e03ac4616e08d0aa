package io.farheap.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.cache.Buffer;
import io.farheap.cache.Cache;
import io.farheap.cache.CacheSession;
import io.farheap.cache.FutureCacheSession;
import io.farheap.cache.contract.CacheConfiguration;
import io.farheap.cache.contract.CacheException;
import io.farheap.cache.contract.Status;
import io.farheap.command.ServerProcess;
import io.farheap.migration.MigrationOptions;
import io.farheap.testing.TestDevice;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Memory servers, in processes of their own, that are stopped by SIGSTOP or end by SIGKILL: a thread that waits for one
 * continues when the lease has expired, a thread that uses the other server never waits, and lost data stays lost when
 * the process continues. The tests print the times. They mostly wait for leases and for answers that do not come, so
 * several run at the same time.
 */
@Execution(ExecutionMode.CONCURRENT)
class StoppedServerTest {

    private static final long REGION_BYTES = 1 << 20;
    private static final long ON_FIRST = 0;
    private static final long ON_SECOND = REGION_BYTES;
    private static final long LEASE_SECONDS = TestDevice.shortLease(3);
    /** The promise is the lease and 5 s; the machine may be slow. */
    private static final long PATIENCE_SECONDS = TestDevice.patience(60);

    private static final MigrationOptions SLOWLY =
            MigrationOptions.DEFAULT.chunkBytes(512).windowBytes(512);

    enum Signal {
        STOP,
        KILL
    }

    record Way(String name, Signal signal, CacheConfiguration configuration) {

        @Override
        public String toString() {
            return "SIG" + signal + " " + name;
        }
    }

    static Stream<Way> usualWays() {
        return ways().filter(StoppedServerTest::usual);
    }

    static Stream<Way> otherWays() {
        return ways().filter(way -> !usual(way));
    }

    private static boolean usual(Way way) {
        return way.signal() == Signal.STOP && way.name().equals("client threads, batched");
    }

    static Stream<Way> ways() {
        Map<String, CacheConfiguration> configurations = new LinkedHashMap<>();
        configurations.put("one-sided", CacheConfiguration.DIRECT.withQueueDepth(8));
        configurations.put("batched", CacheConfiguration.DIRECT.with(0, 1, 16, 4));
        configurations.put("client threads", CacheConfiguration.DIRECT.with(1, 0, 1, 8));
        configurations.put("client threads, batched", CacheConfiguration.DIRECT.with(2, 1, 16, 4));
        // The end of a killed server is noticed at once, so the simplest and the longest way suffice.
        Set<String> killed = Set.of("one-sided", "client threads, batched");
        return Stream.of(Signal.values()).flatMap(signal -> configurations.entrySet().stream()
                .filter(entry -> signal == Signal.STOP || killed.contains(entry.getKey()))
                .map(entry -> new Way(entry.getKey(), signal, entry.getValue())));
    }

    private Way way;
    private ServerProcess first;
    private ServerProcess second;
    private Cache cache;
    private final CompletableFuture<String> lost = new CompletableFuture<>();
    private final Map<String, Long> took = new LinkedHashMap<>();

    private void create(Way how) {
        way = how;
        first = server(LEASE_SECONDS);
        // This server is not stopped, and must not lose its lease on a busy machine.
        second = server(PATIENCE_SECONDS);
        cache = Patience.create(() -> Cache.builder()
                .capacity(4 * REGION_BYTES)
                .servers(first.address(), second.address())
                .configuration(way.configuration())
                .migration(SLOWLY)
                .onLost((server, cause, regions) -> lost.complete(server))
                .create());
        assertEquals(first.address(), cache.serverOf(0));
        assertEquals(second.address(), cache.serverOf(1));
    }

    private static ServerProcess server(long leaseSeconds) {
        return TestServer.start(8 * REGION_BYTES, REGION_BYTES, "--lease", leaseSeconds + "s");
    }

    @AfterEach
    void close() throws Exception {
        try (ServerProcess _ = second;
                ServerProcess _ = first) {
            if (cache != null) {
                await("Cache.close", start(cache::close));
            }
            System.out.println(way + ": took ms " + took);
            goOn();
        }
    }

    private void strike() {
        if (way.signal() == Signal.KILL) {
            first.kill();
        } else {
            signal("-STOP");
        }
    }

    private void goOn() {
        if (way.signal() == Signal.STOP) {
            signal("-CONT");
        }
    }

    private void signal(String signal) {
        try {
            assertEquals(
                    0,
                    new ProcessBuilder("kill", signal, Long.toString(first.pid()))
                            .start()
                            .waitFor());
        } catch (java.io.IOException | InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private interface Task {
        void run() throws Exception;
    }

    private static CompletableFuture<Void> start(Task task) {
        return start(task, false);
    }

    private static CompletableFuture<Void> start(Task task, boolean virtual) {
        CompletableFuture<Void> ended = new CompletableFuture<>();
        Runnable body = () -> {
            try {
                task.run();
                ended.complete(null);
            } catch (Throwable e) {
                ended.completeExceptionally(e);
            }
        };
        if (virtual) {
            Thread.ofVirtual().start(body);
        } else {
            Thread.ofPlatform().daemon().start(body);
        }
        return ended;
    }

    private void await(String what, CompletableFuture<Void> ended) throws Exception {
        long start = System.nanoTime();
        try {
            ended.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
        } catch (java.util.concurrent.TimeoutException e) {
            Thread.getAllStackTraces()
                    .forEach((thread, trace) -> System.out.println(thread + "\n\t"
                            + String.join(
                                    "\n\t",
                                    Stream.of(trace)
                                            .map(StackTraceElement::toString)
                                            .toList())));
            throw new AssertionError(what + " hangs", e);
        }
        took.merge(what, (System.nanoTime() - start) / 1_000_000, Math::max);
    }

    /** The task succeeds or is refused: some calls do their work without the lost server. */
    private static void refusedOrDone(Task task) throws Exception {
        try {
            task.run();
        } catch (CacheException e) {
            assertNotEquals(null, e.getMessage());
        }
    }

    private static int statusOf(Task task) throws Exception {
        try {
            task.run();
            return Status.OK;
        } catch (CacheException e) {
            return e.status();
        }
    }

    /** Makes requests until one is lost. */
    private void untilLost(CacheSession session, AtomicBoolean going, boolean write) throws Exception {
        MemorySegment word = MemorySegment.ofArray(new long[1]);
        int status = Status.OK;
        // A server that was killed cannot be reached, until its lease has ended.
        while (status == Status.OK || status == Status.UNREACHABLE) {
            status = statusOf(() -> {
                if (write) {
                    session.writeBlocking(ON_FIRST + 64, word);
                } else {
                    session.readBlocking(ON_FIRST, word);
                }
            });
            going.set(true);
            pause();
        }
        assertEquals(Status.LOST, status);
    }

    private void usesFirst(boolean write) throws Exception {
        try (CacheSession session = cache.openSession()) {
            untilLost(session, new AtomicBoolean(), write);
        }
    }

    private void usesFirstAsynchronously() {
        try (CacheSession session = cache.openSession();
                Buffer buffer = cache.allocate(4096)) {
            int[] statuses = new int[2];
            long[] addresses = new long[32];
            while (statuses[0] == Status.OK) {
                session.readAll(
                        addresses,
                        32,
                        buffer,
                        0,
                        8,
                        (token, status) -> statuses[0] = status == Status.UNREACHABLE ? statuses[0] : status,
                        0);
                session.write(
                        ON_FIRST + 4096,
                        buffer,
                        512,
                        8,
                        (token, status) -> statuses[1] = Math.max(statuses[1], status),
                        0);
                session.drain();
                pause();
            }
            assertEquals(Status.LOST, statuses[0]);
        }
    }

    private void usesFirstThroughFutures() {
        try (FutureCacheSession futures = cache.openFutureSession()) {
            MemorySegment word = MemorySegment.ofArray(new long[1]);
            while (true) {
                try {
                    futures.read(ON_FIRST, word).join();
                    pause();
                } catch (CompletionException e) {
                    int status = ((CacheException) e.getCause()).status();
                    if (status != Status.UNREACHABLE) {
                        assertEquals(Status.LOST, status);
                        return;
                    }
                }
            }
        }
    }

    /** Makes requests to the other server, of which none may fail. */
    private CompletableFuture<Void> useSecond(AtomicLong done, AtomicBoolean enough) {
        return start(() -> {
            try (CacheSession session = cache.openSession()) {
                MemorySegment word = MemorySegment.ofArray(new long[1]);
                while (!enough.get()) {
                    session.writeBlocking(ON_SECOND, word);
                    session.readBlocking(ON_SECOND, word);
                    done.incrementAndGet();
                    pause();
                }
            }
        });
    }

    private static void awaitMore(AtomicLong done) {
        long seen = done.get();
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
        while (done.get() < seen + 10) {
            assertTrue(System.nanoTime() - deadline < 0, "requests to the other server stand still");
            pause();
        }
    }

    /** Loads run for long, so they leave the processors to the tests that run at the same time. */
    private static void pause() {
        LockSupport.parkNanos(1_000_000);
    }

    @ParameterizedTest
    @MethodSource("usualWays")
    void requestsEndAndStayLostAndOthersGoOn(Way how) throws Exception {
        endRequests(how);
    }

    @ParameterizedTest
    @MethodSource("otherWays")
    @Tag("full")
    void requestsEndAndStayLostAndOthersGoOnInOtherWays(Way how) throws Exception {
        endRequests(how);
    }

    private void endRequests(Way how) throws Exception {
        create(how);
        AtomicLong done = new AtomicLong();
        AtomicBoolean enough = new AtomicBoolean();
        CompletableFuture<Void> other = useSecond(done, enough);
        CacheSession kept = cache.openSession();
        MemorySegment word = MemorySegment.ofArray(new long[] {42});
        // A busy machine may let the short lease end before that.
        int status = statusOf(() -> kept.writeBlocking(ON_FIRST, word));
        assertTrue(status == Status.OK || status == Status.LOST, Status.describe(status));
        kept.writeBlocking(ON_SECOND + 64, word);
        kept.release();
        Map<String, CompletableFuture<Void>> users = new LinkedHashMap<>();
        users.put("readBlocking", start(() -> usesFirst(false)));
        users.put("writeBlocking", start(() -> usesFirst(true)));
        users.put("virtual thread", start(() -> usesFirst(false), true));
        users.put("drain", start(this::usesFirstAsynchronously));
        users.put("futures", start(this::usesFirstThroughFutures));
        awaitMore(done);
        strike();
        awaitMore(done);
        for (Map.Entry<String, CompletableFuture<Void>> user : users.entrySet()) {
            await(user.getKey(), user.getValue());
        }
        assertEquals(first.address(), lost.get(PATIENCE_SECONDS, TimeUnit.SECONDS));
        awaitMore(done);
        Consumer<CacheSession> allLost = session -> {
            long[] read = {7};
            assertEquals(
                    Status.LOST,
                    assertThrows(
                                    CacheException.class,
                                    () -> session.readBlocking(ON_FIRST, MemorySegment.ofArray(read)))
                            .status());
            assertEquals(7, read[0], "a lost read left something");
            assertEquals(
                    Status.LOST,
                    assertThrows(CacheException.class, () -> session.writeBlocking(ON_FIRST, word))
                            .status());
            session.readBlocking(ON_SECOND + 64, MemorySegment.ofArray(read));
            assertEquals(42, read[0]);
        };
        allLost.accept(kept);
        goOn();
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(2 * LEASE_SECONDS);
        while (System.nanoTime() - end < 0) {
            allLost.accept(kept);
            pause();
        }
        try (CacheSession session = cache.openSession()) {
            allLost.accept(session);
        }
        assertThrows(CacheException.class, () -> cache.migrate(0, second.address()));
        allLost.accept(kept);
        kept.close();
        enough.set(true);
        await("the other server's user", other);
    }

    @ParameterizedTest
    @MethodSource("usualWays")
    void callsEnd(Way how) throws Exception {
        endCalls(how);
    }

    @ParameterizedTest
    @MethodSource("otherWays")
    @Tag("full")
    void callsEndInOtherWays(Way how) throws Exception {
        endCalls(how);
    }

    private void endCalls(Way how) throws Exception {
        create(how);
        AtomicLong done = new AtomicLong();
        AtomicBoolean enough = new AtomicBoolean();
        CompletableFuture<Void> other = useSecond(done, enough);
        List<CacheSession> sessions = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            sessions.add(cache.openSession());
        }
        awaitMore(done);
        strike();
        Map<String, CompletableFuture<Void>> calls = new LinkedHashMap<>();
        calls.put("close sessions", start(() -> {
            for (CacheSession session : sessions) {
                session.read(ON_FIRST, MemorySegment.ofArray(new long[1]), (token, status) -> {}, 0);
                session.close();
            }
        }));
        calls.put("openSession", start(() -> cache.openSession().close()));
        calls.put("openFutureSession", start(() -> cache.openFutureSession().close()));
        calls.put(
                "reconfigure",
                start(() -> refusedOrDone(
                        () -> cache.reconfigure(way.configuration().withQueueDepth(2)))));
        calls.put("migrate from", start(() -> refusedOrDone(() -> cache.migrate(0, second.address()))));
        calls.put("migrate to", start(() -> refusedOrDone(() -> cache.migrate(1, first.address()))));
        calls.put("retire", start(() -> refusedOrDone(() -> cache.retire(first.address(), moved -> {}))));
        calls.put("addServer", start(() -> refusedOrDone(() -> cache.addServer(first.address()))));
        calls.put("allocate", start(() -> cache.allocate(8).close()));
        for (Map.Entry<String, CompletableFuture<Void>> call : calls.entrySet()) {
            await(call.getKey(), call.getValue());
        }
        awaitMore(done);
        enough.set(true);
        await("the other server's user", other);
    }

    @ParameterizedTest
    @MethodSource("ways")
    @Tag("full")
    void migrationsFromItAndToItEnd(Way how) throws Exception {
        create(how);
        AtomicLong done = new AtomicLong();
        AtomicBoolean enough = new AtomicBoolean();
        CompletableFuture<Void> other = useSecond(done, enough);
        awaitMore(done);
        boolean from = way.configuration().clientThreads() % 2 == 0;
        int region = from ? 2 : 3;
        String to = from ? second.address() : first.address();
        CompletableFuture<Void> migration = start(() -> refusedOrDone(() -> cache.migrate(region, to)));
        while (cache.movedBytes(region) < REGION_BYTES / 8 && !migration.isDone()) {
            Thread.onSpinWait();
        }
        strike();
        await("migration " + (from ? "from it" : "to it"), migration);
        await("the next", start(() -> refusedOrDone(() -> cache.migrate(1, first.address()))));
        try (CacheSession session = cache.openSession()) {
            for (long address = region * REGION_BYTES; address < (region + 1) * REGION_BYTES; address += 4096) {
                long at = address;
                int status = statusOf(() -> session.writeBlocking(at, MemorySegment.ofArray(new long[1])));
                assertTrue(
                        status == Status.OK || status == Status.LOST || status == Status.UNREACHABLE,
                        Status.describe(status));
            }
            assertEquals(0, session.held());
        }
        awaitMore(done);
        enough.set(true);
        await("the other server's user", other);
    }
}
