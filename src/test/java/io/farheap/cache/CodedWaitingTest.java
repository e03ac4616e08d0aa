package io.farheap.cache;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.resilience.contract.Resilience;
import io.farheap.testing.ControlCable;
import io.farheap.testing.TestDevice;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** The waits of a cache with resilience, as {@link WaitingTest} tests them for other caches. */
@Timeout(value = 180, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class CodedWaitingTest {

    private static final long PATIENCE_SECONDS = TestDevice.patience(60);

    private final Cluster cluster = new Cluster(2, 2, 2);
    private final List<ControlCable> cables = new ArrayList<>();

    @AfterEach
    void close() throws IOException {
        for (ControlCable cable : cables) {
            cable.mend();
            cable.close();
        }
        cluster.close();
    }

    /** @return a new way to a server, which can become silent */
    private ControlCable cable(int server) throws IOException {
        ControlCable cable = new ControlCable(cluster.address(server));
        cables.add(cable);
        return cable;
    }

    private static Cache cache(String... servers) {
        return Cache.builder()
                .capacity(Cluster.REGION_BYTES)
                .servers(servers)
                .device(TestDevice.client())
                .resilience(Resilience.failureRecovery(2, 1))
                .create();
    }

    /** @return a cache of three servers, two of which can become silent */
    private Cache cache() throws IOException {
        return cache(cluster.address(0), cable(1).address(), cable(2).address());
    }

    /** Begins steps on a thread, and returns when the thread waits for a server's answer. */
    private static <T> CompletableFuture<T> begin(Callable<T> steps) {
        CompletableFuture<T> ended = new CompletableFuture<>();
        Thread thread = Thread.ofPlatform().start(() -> {
            try {
                ended.complete(steps.call());
            } catch (Throwable e) {
                ended.completeExceptionally(e);
            }
        });
        List<Thread.State> waiting = List.of(Thread.State.WAITING, Thread.State.TIMED_WAITING);
        while (!waiting.contains(thread.getState()) || !isCalling(thread)) {
            assertTrue(thread.isAlive(), "it has ended");
            Thread.onSpinWait();
        }
        return ended;
    }

    private static boolean isCalling(Thread thread) {
        return Arrays.stream(thread.getStackTrace())
                .anyMatch(frame -> frame.getClassName().equals("io.farheap.control.grpc.CallChannel"));
    }

    private static void closeInTime(Cache cache) throws Exception {
        // The common pool may have one thread, for which the closes of other tests would wait.
        CompletableFuture.runAsync(cache::close, task -> Thread.ofPlatform().start(task))
                .get(PATIENCE_SECONDS, TimeUnit.SECONDS);
    }

    private static void assertEndedByClose(CompletableFuture<?> steps) {
        Throwable why = assertThrows(ExecutionException.class, () -> steps.get(PATIENCE_SECONDS, TimeUnit.SECONDS))
                .getCause();
        String message = String.valueOf(
                assertInstanceOf(IllegalStateException.class, why).getMessage());
        assertTrue(message.contains("closed") || message.contains("deleted"), message);
    }

    @Test
    @Execution(ExecutionMode.CONCURRENT)
    void anOpeningEndsWhenTheCacheIsClosed() throws Exception {
        Cache cache = cache();
        cables.forEach(ControlCable::cut);
        CompletableFuture<CacheSession> opened = begin(cache::openSession);
        closeInTime(cache);
        assertEndedByClose(opened);
        assertThrows(IllegalStateException.class, cache::openSession);
    }

    /**
     * A call that a silent server does not answer ends after some seconds. If it has ended before the close, the test
     * tries again.
     */
    @Test
    @Execution(ExecutionMode.CONCURRENT)
    void aCloseWaitsForNoServerThatIsToBeAdded() throws Exception {
        cluster.add(2);
        long since = System.nanoTime();
        boolean waits = false;
        while (!waits) {
            assertTrue(
                    System.nanoTime() - since < TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS),
                    "each close has come after the end of the call");
            Cache cache = cache(cluster.address(0), cluster.address(1), cluster.address(2));
            ControlCable cable = cable(3);
            cable.cut();
            CompletableFuture<Boolean> added = begin(() -> {
                cache.addServer(cable.address());
                return true;
            });
            closeInTime(cache);
            waits = !added.isDone();
            cable.mend();
            assertThrows(ExecutionException.class, () -> added.get(PATIENCE_SECONDS, TimeUnit.SECONDS));
            assertThrows(IllegalStateException.class, () -> cache.addServer(cluster.address(3)));
        }
    }

    @Test
    @Execution(ExecutionMode.CONCURRENT)
    void aGrowthEndsWhenTheCacheIsClosed() throws Exception {
        Cache cache = cache();
        cables.forEach(ControlCable::cut);
        CompletableFuture<Boolean> grown = begin(() -> {
            cache.reshape(4 * Cluster.REGION_BYTES);
            return true;
        });
        closeInTime(cache);
        assertEndedByClose(grown);
    }

    @Test
    @Execution(ExecutionMode.CONCURRENT)
    void aListenerOfAMoveIsRefusedWhatChangesTheCache() {
        String fourth = cluster.add(2);
        String fifth = cluster.add(2);
        try (Cache cache = cache(cluster.address(0), cluster.address(1), cluster.address(2))) {
            cache.addServer(fourth);
            List<String> refused = new ArrayList<>();
            String leaves = cluster.address(0);
            cache.retire(leaves, result -> {
                List<Runnable> changes = List.of(
                        () -> cache.addServer(fifth),
                        () -> cache.retire(cluster.address(1), _ -> {}),
                        () -> cache.reshape(4 * Cluster.REGION_BYTES),
                        cache::close);
                for (Runnable change : changes) {
                    refused.add(assertThrows(IllegalStateException.class, change::run)
                            .getMessage());
                }
                // A query of the cache, and its use, are no changes.
                assertTrue(cache.servers().contains(fourth));
                cache.openSession().close();
            });
            assertEquals(4, refused.size());
            assertTrue(refused.stream().allMatch(why -> why.contains("listener")), refused.getFirst());
            assertFalse(cache.servers().contains(leaves));
            assertTrue(cache.health().whole());
        }
    }
}
