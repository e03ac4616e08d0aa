package io.farheap.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.cache.Buffer;
import io.farheap.cache.Cache;
import io.farheap.cache.CacheSession;
import io.farheap.cache.contract.CacheException;
import io.farheap.cache.contract.Completion;
import io.farheap.cache.contract.Status;
import io.farheap.command.ServerProcess;
import io.farheap.migration.MigrationOptions;
import io.farheap.migration.PauseScope;
import io.farheap.testing.TestDevice;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Memory servers, in processes of their own, that die by SIGKILL. */
class KilledServerTest {

    private static final long REGION_BYTES = 1 << 20;
    private static final long ON_FIRST = 0;
    private static final long ON_SECOND = REGION_BYTES;

    private ServerProcess first;
    private ServerProcess second;
    private Cache cache;
    private final CompletableFuture<String> lost = new CompletableFuture<>();
    private final CompletableFuture<Integer> lostRegions = new CompletableFuture<>();

    @BeforeEach
    void createWithShortLeases() {
        create();
    }

    private void create(String... options) {
        first = TestServer.start(4 * REGION_BYTES, REGION_BYTES, options);
        second = TestServer.start(4 * REGION_BYTES, REGION_BYTES, options);
        cache = Patience.create(() -> Cache.builder()
                .capacity(4 * REGION_BYTES)
                .servers(first.address(), second.address())
                .onLost((server, cause, regions) -> {
                    lostRegions.complete(regions);
                    lost.complete(server);
                })
                .create());
        assertEquals(first.address(), cache.serverOf(0));
        assertEquals(second.address(), cache.serverOf(1));
    }

    @AfterEach
    void close() {
        cache.close();
        first.close();
        second.close();
    }

    /** Requests to the killed server end long before its lease expires. */
    @Test
    void requestsEndAtOnceAndOthersGoOn() {
        close();
        create("--lease", "1000s");
        try (CacheSession session = cache.openSession();
                Buffer buffer = cache.allocate(4096)) {
            int[] statuses = new int[2];
            Completion onFirst = (token, status) -> statuses[0] = status;
            Completion onSecond = (token, status) -> statuses[1] |= status;
            session.writeBlocking(ON_FIRST, buffer, 0, 4096);
            first.kill();
            long killed = System.nanoTime();
            while (statuses[0] == Status.OK) {
                assertTrue(
                        System.nanoTime() - killed < TestDevice.patience(TimeUnit.SECONDS.toNanos(20)),
                        "requests to a killed server end");
                session.read(ON_FIRST, buffer, 0, 64, onFirst, 0);
                session.write(ON_SECOND, buffer, 0, 64, onSecond, 0);
                session.drain();
            }
            assertEquals(Status.UNREACHABLE, statuses[0]);
            assertEquals(Status.OK, statuses[1]);
            session.writeBlocking(ON_SECOND, buffer, 0, 4096);
            CacheException refused =
                    assertThrows(CacheException.class, () -> session.writeBlocking(ON_FIRST, buffer, 0, 8));
            assertEquals(Status.UNREACHABLE, refused.status());
            String why = refused.getMessage();
            assertTrue(why.contains("memory server " + first.address()) && why.contains("create another"), why);
            assertFalse(why.contains(second.address()), why);
        }
        try (CacheSession another = cache.openSession();
                Buffer buffer = cache.allocate(4096)) {
            another.writeBlocking(ON_SECOND, buffer, 0, 4096);
            assertEquals(
                    Status.UNREACHABLE,
                    assertThrows(CacheException.class, () -> another.writeBlocking(ON_FIRST, buffer, 0, 8))
                            .status());
        }
    }

    @Test
    @Execution(ExecutionMode.CONCURRENT)
    @Tag("full")
    void aClientWithNothingInFlightLearnsItFromTheLease() throws Exception {
        first.kill();
        assertEquals(first.address(), lost.get(TestDevice.patience(20), TimeUnit.SECONDS));
        assertEquals(2, lostRegions.get());
        try (CacheSession session = cache.openSession();
                Buffer buffer = cache.allocate(8)) {
            String why = assertThrows(CacheException.class, () -> session.readBlocking(ON_FIRST, buffer, 0, 8))
                    .getMessage();
            assertTrue(why.contains("its content is lost: memory server " + first.address() + " ("), why);
        }
    }

    @Test
    @Tag("full")
    void aMigrationFromOrToADeadServerIsRefusedAndChangesNothing() {
        try (CacheSession session = cache.openSession();
                Buffer buffer = cache.allocate(4096)) {
            session.writeBlocking(ON_SECOND, buffer, 0, 4096);
            first.kill();
            assertThrows(CacheException.class, () -> cache.migrate(1, first.address()));
            assertThrows(CacheException.class, () -> cache.migrate(0, second.address()));
            assertThrows(CacheException.class, () -> cache.retire(first.address(), moved -> {}));
            assertEquals(second.address(), cache.serverOf(1));
            session.writeBlocking(ON_SECOND, buffer, 0, 4096);
            assertEquals(0, session.held());
        }
    }

    /** Writes wait for the whole region here, so no part of it is in use in the new place before all parts are. */
    @Test
    @Tag("full")
    void aDeadDestinationLeavesTheRegionInUse() {
        try (ServerProcess third = TestServer.start(4 * REGION_BYTES, REGION_BYTES);
                CacheSession session = cache.openSession();
                Buffer buffer = cache.allocate(4096)) {
            cache.addServer(third.address());
            CompletableFuture<Void> kill = CompletableFuture.runAsync(third::kill);
            for (int region = 0; region < cache.regions(); region++) {
                try {
                    cache.migrate(List.of(region), third.address(), MigrationOptions.DEFAULT.pause(PauseScope.REGION));
                } catch (CacheException e) {
                    assertFalse(cache.serverOf(region).equals(third.address()));
                    session.writeBlocking(region * REGION_BYTES, buffer, 0, 4096);
                }
            }
            kill.join();
        }
    }
}
