package io.farheap.cache;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.cache.move.CacheServers;
import io.farheap.migration.MigrationOptions;
import io.farheap.testing.ControlCable;
import io.farheap.testing.Need;
import io.farheap.testing.Needs;
import io.farheap.testing.TestDevice;
import io.farheap.thread.Uninterruptibles;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The operations of a cache that wait for others, and those that do not. */
@Needs(Need.SOFTVERBS)
@Timeout(value = 180, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class WaitingTest {

    private static final long REGION = Cluster.REGION_BYTES;
    private static final long PATIENCE_SECONDS = TestDevice.patience(60);
    /** With these options and late operations, a region takes seconds. */
    private static final MigrationOptions SLOWLY =
            MigrationOptions.DEFAULT.chunkBytes(512).windowBytes(512);

    private final Cluster cluster = new Cluster(4, 4);

    @AfterEach
    void close() {
        SoftverbsFaults.delayOperations(0);
        cluster.close();
    }

    private Cache cache(String... servers) {
        return Cache.builder()
                .capacity(4 * REGION)
                .servers(servers)
                .device(TestDevice.client())
                .create();
    }

    private static void awaitState(Thread thread, Thread.State... states) {
        while (!Arrays.asList(states).contains(thread.getState())) {
            assertTrue(thread.isAlive(), "it has ended");
            Thread.onSpinWait();
        }
    }

    /** A migration of all regions is under way, and the cache is closed while the first region moves. */
    @Test
    void aCloseStopsAMigration() throws Exception {
        Cache cache = cache(cluster.address(0));
        cache.addServer(cluster.address(1));
        AtomicInteger moved = new AtomicInteger();
        SoftverbsFaults.delayOperations(TimeUnit.MILLISECONDS.toNanos(10));
        CompletableFuture<Void> leaving = CompletableFuture.runAsync(
                () -> cache.retire(cluster.address(0), SLOWLY, result -> moved.incrementAndGet()));
        while (cache.movedBytes(0) == 0) {
            assertFalse(leaving.isDone(), () -> "it has ended: " + leaving.exceptionNow());
            Thread.onSpinWait();
        }
        cache.close();
        SoftverbsFaults.delayOperations(0);
        Throwable why = assertThrows(ExecutionException.class, () -> leaving.get(PATIENCE_SECONDS, TimeUnit.SECONDS))
                .getCause();
        assertTrue(String.valueOf(why.getMessage()).contains("closed"), why.toString());
        assertTrue(moved.get() < 4, moved + " regions have moved before it was closed");
        awaitAllFree(0);
        awaitAllFree(1);
    }

    /** Waits for all regions of a server: late operations keep theirs for a moment. */
    private void awaitAllFree(int server) throws InterruptedException {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
        while (cluster.freeRegions(server) != 4) {
            assertTrue(System.nanoTime() - deadline < 0, "regions are not given back");
            Thread.sleep(1);
        }
    }

    /** A change of the configuration waits for a session that is not polled; one of the capacity for its request. */
    @Test
    void aCloseStopsAChange() throws Exception {
        for (boolean smaller : new boolean[] {false, true}) {
            Cache cache = cache(cluster.address(0));
            CacheSession session = cache.openSession();
            Buffer buffer = cache.allocate(64);
            assertTrue(session.read(4 * REGION - 8, buffer, 0, 8, (_, _) -> {}, 0));
            CompletableFuture<Void> change = new CompletableFuture<>();
            Thread changing = Thread.ofPlatform().start(() -> {
                try {
                    if (smaller) {
                        cache.reshape(REGION);
                    } else {
                        cache.reconfigure(Configurations.BATCHED);
                    }
                    change.complete(null);
                } catch (Throwable e) {
                    change.completeExceptionally(e);
                }
            });
            awaitState(changing, Thread.State.TIMED_WAITING);
            cache.close();
            String why = assertThrows(ExecutionException.class, () -> change.get(PATIENCE_SECONDS, TimeUnit.SECONDS))
                    .getMessage();
            assertTrue(why.contains("the cache is"), why);
        }
    }

    /** The listener runs on the thread that has the lock of changes, so its changes would happen within the move. */
    @Test
    void aListenerOfAMoveIsRefusedWhatChangesTheCache() {
        try (Cache cache = cache(cluster.address(0));
                CacheSession session = cache.openSession();
                Buffer buffer = cache.allocate(64)) {
            cache.addServer(cluster.address(1));
            String third = cluster.add(4);
            List<String> refused = new ArrayList<>();
            cache.retire(cluster.address(0), result -> {
                List<Runnable> changes = List.of(
                        () -> cache.addServer(third),
                        () -> cache.migrate(0, cluster.address(0)),
                        () -> cache.retire(cluster.address(1), _ -> {}),
                        () -> cache.reshape(8 * REGION),
                        () -> cache.reshape(REGION),
                        () -> cache.reconfigure(Configurations.HANDED_OVER),
                        cache::close);
                for (Runnable change : changes) {
                    refused.add(assertThrows(IllegalStateException.class, change::run)
                            .getMessage());
                }
                // A query of the cache, and its use, are no changes.
                assertEquals(List.of(cluster.address(0), cluster.address(1)), cache.servers());
                session.writeBlocking(0, buffer, 0, 8);
            });
            assertEquals(4 * 7, refused.size());
            assertTrue(refused.stream().allMatch(why -> why.contains("listener")), refused.getFirst());
            assertEquals(List.of(cluster.address(1)), cache.servers());
            assertEquals(4 * REGION, cache.capacity());
            cache.reshape(3 * REGION);
        }
    }

    /** Meanwhile another thread adds a server, moves a region and uses an open session. */
    @Test
    void anOpeningTowardsASilentServerHoldsNothingElseUp() throws Exception {
        String added = cluster.add(4);
        List<ControlCable> cables = new ArrayList<>();
        try {
            // The opening waits for each silent server in turn, so that the steps below have the time that they need.
            for (int i = 0; i < 4; i++) {
                cables.add(new ControlCable(cluster.add(1)));
            }
            String[] servers = Stream.concat(
                            Stream.of(cluster.address(0)), cables.stream().map(ControlCable::address))
                    .toArray(String[]::new);
            Cache cache = cache(servers);
            CacheSession before = cache.openSession();
            Buffer buffer = cache.allocate(64);
            cables.forEach(ControlCable::cut);
            CompletableFuture<CacheSession> opened = new CompletableFuture<>();
            Thread opening = Thread.ofPlatform().start(() -> {
                try {
                    opened.complete(cache.openSession());
                } catch (Throwable e) {
                    opened.completeExceptionally(e);
                }
            });
            awaitState(opening, Thread.State.WAITING, Thread.State.TIMED_WAITING);
            cache.addServer(added);
            assertFalse(opened.isDone(), "a server is added while the session is opened");
            cache.migrate(0, added);
            buffer.segment().set(JAVA_LONG, 0, 5);
            before.writeBlocking(0, buffer, 0, 8);
            cables.forEach(ControlCable::mend);
            try (CacheSession session = opened.get(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
                session.readBlocking(0, buffer, 8, 8);
                assertEquals(5, buffer.segment().get(JAVA_LONG, 8), "it reaches what was added meanwhile");
            }
            before.close();
            cache.close();
        } finally {
            for (ControlCable cable : cables) {
                cable.close();
            }
        }
    }

    /** An opening connects to servers one after another, and the cache leaves one of them before its turn comes. */
    @Test
    void anOpeningBesideAServerThatIsLeftGoesOnWithoutIt() throws Exception {
        String left = cluster.add(1);
        try (ControlCable cable = new ControlCable(cluster.add(1));
                Cache cache = cache(cluster.address(0))) {
            cache.addServer(cable.address());
            cache.addServer(left);
            cable.cut();
            CompletableFuture<CacheSession> opened = new CompletableFuture<>();
            Thread opening = Thread.ofPlatform().start(() -> {
                try {
                    opened.complete(cache.openSession());
                } catch (Throwable e) {
                    opened.completeExceptionally(e);
                }
            });
            while (!isIn(opening.getStackTrace(), CacheServers.class, "connect")) {
                assertFalse(opened.isDone(), "a server is silent");
                Thread.onSpinWait();
            }
            cache.retire(left, _ -> {});
            assertFalse(opened.isDone(), "a server is silent");
            cable.mend();
            try (CacheSession session = opened.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
                    Buffer buffer = cache.allocate(64)) {
                buffer.segment().set(JAVA_LONG, 0, 5);
                session.writeBlocking(0, buffer, 0, 8);
                session.readBlocking(0, buffer, 8, 8);
                assertEquals(5, buffer.segment().get(JAVA_LONG, 8));
            }
            assertEquals(List.of(cluster.address(0), cable.address()), cache.servers());
        }
    }

    private static boolean isIn(StackTraceElement[] stack, Class<?> type, String method) {
        return Arrays.stream(stack)
                .anyMatch(each -> each.getClassName().equals(type.getName())
                        && each.getMethodName().equals(method));
    }

    @Test
    void anOpeningEndsWhenTheCacheIsClosed() throws Exception {
        try (ControlCable cable = new ControlCable(cluster.address(1))) {
            Cache cache = cache(cluster.address(0), cable.address());
            cable.cut();
            CompletableFuture<CacheSession> opened = new CompletableFuture<>();
            Thread opening = Thread.ofPlatform().start(() -> {
                try {
                    opened.complete(cache.openSession());
                } catch (Throwable e) {
                    opened.completeExceptionally(e);
                }
            });
            awaitState(opening, Thread.State.WAITING, Thread.State.TIMED_WAITING);
            CompletableFuture<Void> closed = CompletableFuture.runAsync(cache::close);
            closed.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
            Throwable why = assertThrows(ExecutionException.class, () -> opened.get(PATIENCE_SECONDS, TimeUnit.SECONDS))
                    .getCause();
            assertInstanceOf(RuntimeException.class, why);
            assertThrows(IllegalStateException.class, cache::openSession);
            cable.mend();
        }
    }

    /** While operations are late, a migration looks for them now and then, and leaves its core to other threads. */
    @Test
    void aDrainPausesBetweenItsLooks() throws Exception {
        try (Cache cache = cache(cluster.address(0));
                CacheSession session = cache.openSession();
                Buffer buffer = cache.allocate(64)) {
            cache.addServer(cluster.address(1));
            SoftverbsFaults.delayOperations(TimeUnit.SECONDS.toNanos(2));
            assertTrue(session.write(0, buffer, 0, 8, (_, _) -> {}, 0));
            session.poll();
            SoftverbsFaults.delayOperations(0);
            CompletableFuture<Void> moved = new CompletableFuture<>();
            Thread moving = Thread.ofPlatform().start(() -> {
                try {
                    cache.migrate(0, cluster.address(1));
                    moved.complete(null);
                } catch (Throwable e) {
                    moved.completeExceptionally(e);
                }
            });
            boolean paused = false;
            while (!paused && !moved.isDone()) {
                paused = pausesIn(moving.getStackTrace(), "io.farheap.migration.region.Participants");
            }
            assertTrue(paused, "it looked without a pause until it was over");
            session.drain();
            moved.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
        }
    }

    /** @return whether a method of this class itself parks the thread */
    private static boolean pausesIn(StackTraceElement[] stack, String type) {
        for (int i = 1; i < stack.length; i++) {
            if (stack[i - 1].getClassName().equals(Uninterruptibles.class.getName())) {
                return stack[i].getClassName().equals(type);
            }
        }
        return false;
    }
}
