package io.farheap.cache;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.cache.calls.CacheProcedures;
import io.farheap.cache.contract.CacheConfiguration;
import io.farheap.cache.contract.Status;
import io.farheap.cache.onesided.PartPoster;
import io.farheap.cache.onesided.SessionEngine;
import io.farheap.cache.order.RequestPath;
import io.farheap.migration.MigrationOptions;
import io.farheap.migration.PauseScope;
import io.farheap.posix.AsymmetricFence;
import io.farheap.testing.Fields;
import io.farheap.testing.TestDevice;
import java.lang.foreign.MemorySegment;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** A cache works after a change, a wrong request or a wait has thrown. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class AfterAThrowTest {

    private static final long REGION = Cluster.REGION_BYTES;
    private static final long PATIENCE_SECONDS = TestDevice.patience(60);

    private static Cache cache(Cluster cluster, long bytes, CacheConfiguration how) {
        return Cache.builder()
                .capacity(bytes)
                .servers(cluster.addresses())
                .device(TestDevice.client())
                .configuration(how)
                .create();
    }

    private static void assertWorks(CacheSession session, Buffer buffer, long value) {
        buffer.segment().set(JAVA_LONG, 0, value);
        session.writeBlocking(8, buffer, 0, 8);
        session.readBlocking(8, buffer, 8, 8);
        assertEquals(value, buffer.segment().get(JAVA_LONG, 8));
    }

    private static long threads() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().contains("-cli-"))
                .count();
    }

    /** If one of the sessions cannot be changed, none of them is. */
    @Test
    void aConfigurationStaysForAllSessionsOrChangesForAll() {
        try (Cluster cluster = new Cluster(1);
                Cache cache = cache(cluster, REGION, Configurations.DIRECT);
                CacheSession first = cache.openSession();
                CacheSession second = cache.openSession();
                CacheSession third = cache.openSession();
                Buffer buffer = cache.allocate(64)) {
            for (CacheConfiguration to : List.of(Configurations.HANDED_OVER, Configurations.BATCHED)) {
                CacheConfiguration before = cache.configuration();
                AtomicBoolean failing = failsToBeReplaced(second);
                assertThrows(OutOfMemoryError.class, () -> cache.reconfigure(to));
                assertFalse(failing.get(), "it has failed");
                assertEquals(before, cache.configuration());
                assertEquals(before.clientThreads(), threads());
                for (CacheSession session : List.of(first, second, third)) {
                    assertWorks(session, buffer, 5);
                }
                try (CacheSession another = cache.openSession()) {
                    assertWorks(another, buffer, 6);
                }
                cache.reconfigure(to);
                assertEquals(to.clientThreads(), threads());
                for (CacheSession session : List.of(first, second, third)) {
                    assertWorks(session, buffer, 7);
                }
            }
        }
    }

    /** Makes the fence of a claim throw once, when the session is about to use another data path. */
    private static AtomicBoolean failsToBeReplaced(CacheSession session) {
        AtomicBoolean failing = new AtomicBoolean(true);
        Runnable fence = () -> {
            boolean replaces = StackWalker.getInstance()
                    .walk(frames ->
                            frames.anyMatch(frame -> frame.getMethodName().equals("replace")));
            if (replaces && failing.compareAndSet(true, false)) {
                throw new OutOfMemoryError("injected");
            }
            AsymmetricFence.heavy();
        };
        try {
            Fields.field(session.core().admission.gate(), "heavyFence")
                    .set(session.core().admission.gate(), fence);
        } catch (IllegalAccessException e) {
            throw new AssertionError(e);
        }
        return failing;
    }

    /** A growth throws at its end, after the cache has grown. */
    @Test
    void whatIsNewIsZeroWhateverTheLastChangeThrew() throws Exception {
        try (Cluster cluster = new Cluster(4);
                Cache cache = cache(cluster, REGION / 2, Configurations.DIRECT);
                CacheSession session = cache.openSession();
                Buffer buffer = cache.allocate(64)) {
            CacheProcedures procedures = Fields.get(cache, "procedures", CacheProcedures.class);
            Object resume = Fields.field(procedures, "resume").get(procedures);
            for (long size : new long[] {REGION, 2 * REGION}) {
                Fields.field(procedures, "resume").set(procedures, (Runnable) () -> {
                    throw new IllegalStateException("injected");
                });
                assertThrows(IllegalStateException.class, () -> cache.reshape(size));
                Fields.field(procedures, "resume").set(procedures, resume);
                assertEquals(size, cache.capacity());
                buffer.segment().set(JAVA_LONG, 0, 5);
                session.writeBlocking(size - 8, buffer, 0, 8);
                cache.reshape(size - REGION / 4);
                cache.reshape(size);
                session.readBlocking(size - 8, buffer, 8, 8);
                assertEquals(0, buffer.segment().get(JAVA_LONG, 8));
            }
        }
    }

    @ParameterizedTest
    @MethodSource("io.farheap.cache.Configurations#someAndCoded")
    void aRequestBeyondTheEndIsRefusedInEveryForm(Configurations.Way way) {
        try (Cluster cluster = new Cluster(4, 4, 4);
                Cache cache = way.builder()
                        .capacity(2 * REGION)
                        .servers(cluster.addresses())
                        .create();
                CacheSession session = cache.openSession();
                Buffer buffer = cache.allocate(64)) {
            long end = 2 * REGION;
            long bytes = buffer.bytes();
            MemorySegment word = MemorySegment.ofArray(new byte[8]);
            for (int round = 0; round < 3; round++) {
                for (long address : new long[] {
                    Long.MIN_VALUE,
                    Long.MIN_VALUE + 8,
                    -8,
                    -1,
                    end - 7,
                    end,
                    1L << 40,
                    1L << 62,
                    Long.MAX_VALUE - 8,
                    Long.MAX_VALUE
                }) {
                    for (Runnable request : List.<Runnable>of(
                            () -> session.readBlocking(address, buffer, 0, 8),
                            () -> session.writeBlocking(address, buffer, 0, 8),
                            () -> session.readBlocking(address, word),
                            () -> session.writeBlocking(address, word),
                            () -> session.read(address, buffer, 0, 8, (_, _) -> {}, 0),
                            () -> session.writeAll(new long[] {0, address}, 2, buffer, 0, 8, (_, _) -> {}, 0))) {
                        assertThrows(IndexOutOfBoundsException.class, request::run, () -> "at " + address);
                    }
                }
                for (long length :
                        new long[] {Long.MIN_VALUE, Long.MIN_VALUE + 1, -1, 0, bytes + 1, 1L << 40, 1L << 62}) {
                    for (long address : new long[] {0, 1L << 40, 1L << 62}) {
                        assertThrows(
                                IndexOutOfBoundsException.class,
                                () -> session.readBlocking(address, buffer, 0, length),
                                () -> length + " bytes at " + address);
                        assertThrows(
                                IndexOutOfBoundsException.class,
                                () -> session.writeBlocking(address, buffer, 0, length),
                                () -> length + " bytes at " + address);
                    }
                }
                for (long offset : new long[] {Long.MIN_VALUE, -1, bytes - 7, bytes, 1L << 62, Long.MAX_VALUE}) {
                    assertThrows(
                            IndexOutOfBoundsException.class,
                            () -> session.writeBlocking(0, buffer, offset, 8),
                            () -> "offset " + offset);
                }
                assertEquals(0, session.pending());
                assertWorks(session, buffer, round);
            }
        }
    }

    /** A migration has held the requests and resumes them only once, so the session has to continue by itself. */
    @Test
    void heldRequestsGoOnBehindOneThatCannotBePosted() throws Exception {
        try (Cluster cluster = new Cluster(1, 1);
                Cache cache = cache(cluster, REGION, Configurations.DIRECT);
                CacheSession session = cache.openSession();
                Buffer buffer = cache.allocate(64)) {
            String to = cluster.address(cache.serverOf(0).equals(cluster.address(0)) ? 1 : 0);
            cluster.pulls().shut();
            CompletableFuture<Void> moved = CompletableFuture.runAsync(
                    () -> cache.migrate(List.of(0), to, MigrationOptions.DEFAULT.pause(PauseScope.CACHE)));
            cluster.pulls().awaitPull();
            List<Integer> statuses = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                assertTrue(session.write(64 * i, buffer, 0, 8, (_, status) -> statuses.add(status), 0));
            }
            assertEquals(3, session.held());
            cluster.pulls().open();
            moved.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
            ((SessionEngine) session.core().admission.path()).barrier(new ThrowsOnce());
            assertThrows(IllegalStateException.class, session::poll);
            long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
            while (session.pending() > 0) {
                assertTrue(System.nanoTime() - deadline < 0, "what is behind it stays held");
                session.poll();
            }
            assertEquals(List.of(Status.LOST, Status.OK, Status.OK), statuses);
            assertWorks(session, buffer, 1);
        }
    }

    /** A barrier that throws an unexpected exception once, for a request to the cache's beginning. */
    private static final class ThrowsOnce implements PartPoster.Barrier {

        private boolean thrown;

        @Override
        public boolean present() {
            return true;
        }

        @Override
        public boolean blocks(long address, long length) {
            if (address == 0 && !thrown) {
                thrown = true;
                throw new IllegalStateException("it cannot be posted");
            }
            return false;
        }
    }

    /** The thread is interrupted before it waits: it sleeps until it is woken, and is still interrupted afterwards. */
    @Test
    void anInterruptedThreadSleepsWhileItWaits() throws Exception {
        try (Cluster cluster = new Cluster(1);
                Cache cache = cache(cluster, REGION, Configurations.DIRECT);
                Buffer buffer = cache.allocate(64)) {
            CacheSession session = cache.openSession();
            assertWorks(session, buffer, 1);
            session.release();
            AtomicBoolean woken = new AtomicBoolean();
            int[] sleeps = new int[2];
            holdUp(session, woken, sleeps);
            CompletableFuture<Boolean> interrupted = new CompletableFuture<>();
            Thread waits = Thread.ofPlatform().start(() -> {
                Thread.currentThread().interrupt();
                try {
                    session.readBlocking(8, buffer, 8, 8);
                    interrupted.complete(Thread.interrupted());
                } catch (Throwable e) {
                    interrupted.completeExceptionally(e);
                }
                session.release();
            });
            while (!interrupted.isDone()) {
                // The thread is woken once for each sleep: another permit would end its next sleep at once.
                if (!woken.get()
                        && LockSupport.getBlocker(waits) == sleeps
                        && waits.getState() == Thread.State.TIMED_WAITING) {
                    woken.set(true);
                    LockSupport.unpark(waits);
                }
                Thread.onSpinWait();
            }
            assertTrue(interrupted.get(PATIENCE_SECONDS, TimeUnit.SECONDS), "it is kept for the caller");
            waits.join();
            assertEquals(0, sleeps[1], "sleeps that ended at once, of " + sleeps[0]);
            session.close();
        }
    }

    private static void sleepsUntilWoken(AtomicBoolean woken, int[] sleeps) {
        woken.set(false);
        sleeps[0]++;
        LockSupport.parkNanos(sleeps, TimeUnit.SECONDS.toNanos(10));
        if (!woken.get()) {
            sleeps[1]++;
        }
    }

    /** Makes a session's polls find nothing until its thread has slept three times, and counts the sleeps. */
    private static void holdUp(CacheSession session, AtomicBoolean woken, int[] sleeps) throws IllegalAccessException {
        RequestPath path = Fields.get(session.core().admission, "path", RequestPath.class);
        Object slow = Proxy.newProxyInstance(
                RequestPath.class.getClassLoader(), new Class<?>[] {RequestPath.class}, (proxy, method, arguments) -> {
                    switch (method.getName()) {
                        case "tryExecute" -> {
                            return RequestPath.DECLINED;
                        }
                        case "poll" -> {
                            if (sleeps[0] < 3) {
                                return 0;
                            }
                        }
                        case "park" -> {
                            sleepsUntilWoken(woken, sleeps);
                            return null;
                        }
                        default -> {
                            // The session's own path does the rest.
                        }
                    }
                    try {
                        return method.invoke(path, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
        Fields.field(session.core().admission, "path").set(session.core().admission, slow);
        Fields.field(session.core().admission, "clear").set(session.core().admission, slow);
    }
}
