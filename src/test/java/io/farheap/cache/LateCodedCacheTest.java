package io.farheap.cache;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.cache.coded.CodedServers;
import io.farheap.cache.contract.CacheConfiguration;
import io.farheap.cache.contract.Completion;
import io.farheap.cache.contract.Status;
import io.farheap.resilience.contract.Resilience;
import io.farheap.resilience.table.SpaceState;
import io.farheap.testing.DeviceFaults;
import io.farheap.testing.Effort;
import io.farheap.testing.Fields;
import io.farheap.testing.Need;
import io.farheap.testing.Needs;
import io.farheap.testing.Softverbs;
import io.farheap.testing.TestDevice;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.function.ThrowingConsumer;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Requests of a cache with resilience that wait for late splits, or for an event that never happens. */
@Needs(Need.SOFTVERBS)
class LateCodedCacheTest {

    private static final int PAGE = 4096;
    private static final double LATE_PART = 0.3;
    private static final long LATE_NANOS = 1_000_000;
    private static final long FOREVER_NANOS = 3_600_000_000_000L;
    private static final long CLOSE_NANOS = 200_000_000;
    private static final int SERVERS = 5;
    private static final int ROUNDS = Effort.either(12, 100);

    private final Cluster cluster = new Cluster(1, 1, 1, 1);

    @AfterEach
    void close() {
        SoftverbsFaults.delayOperations(0);
        cluster.close();
    }

    private Cache cache(Resilience how) {
        return cache(cluster, TestDevice.client(), how);
    }

    private static Cache cache(Cluster servers, String device, Resilience how) {
        return builder(servers, device, how).create();
    }

    private static CacheBuilder builder(Cluster servers, String device, Resilience how) {
        return Cache.builder()
                .capacity(PAGE)
                .servers(servers.addresses())
                .device(device)
                .resilience(how);
    }

    private static void inTime(Executable steps) {
        assertTimeoutPreemptively(Duration.ofMillis(TestDevice.patience(60_000)), steps);
    }

    static List<Resilience> calledEarly() {
        return List.of(
                Resilience.ecOnly(2, 2), Resilience.corruptionDetection(2, 2), Resilience.corruptionCorrection(1, 3));
    }

    /** A write is called back before all splits are written; the others follow when no callback will come any more. */
    @ParameterizedTest
    @MethodSource("calledEarly")
    void aBlockingWriteAndADrainReturnOnceNothingIsOwed(Resilience how) {
        try (Cache cache = cache(how)) {
            inTime(() -> {
                MemorySegment memory = MemorySegment.ofArray(new byte[PAGE]);
                try (CacheSession first = cache.openSession();
                        CacheSession second = cache.openSession()) {
                    first.writeBlocking(0, memory);
                    SoftverbsFaults.delayOperations(LATE_PART, LATE_NANOS);
                    for (int i = 0; i < ROUNDS; i++) {
                        first.writeBlocking(0, memory);
                        // No thread polls the first session meanwhile.
                        second.writeBlocking(0, memory);
                        assertTrue(first.write(0, memory, (token, status) -> assertEquals(Status.OK, status), 0));
                        first.drain();
                        second.writeBlocking(0, memory);
                    }
                }
            });
        }
    }

    @Test
    void anIdleSessionOfFuturesKeepsNoPageFromOthers() {
        try (Cache cache = cache(Resilience.ecOnly(2, 2))) {
            inTime(() -> {
                MemorySegment memory = MemorySegment.ofArray(new byte[PAGE]);
                try (FutureCacheSession futures = cache.openFutureSession();
                        CacheSession other = cache.openSession()) {
                    futures.write(0, memory).get();
                    SoftverbsFaults.delayOperations(LATE_PART, LATE_NANOS);
                    for (int i = 0; i < ROUNDS; i++) {
                        futures.write(0, memory).get(60, TimeUnit.SECONDS);
                        other.writeBlocking(0, memory);
                    }
                }
            });
        }
    }

    /** Operations that the session still has under way to a void slab keep the slab's memory taken. */
    @Test
    void anIdleSessionOfFuturesFencesWhatItIsAskedTo() {
        Softverbs.devices(SERVERS + 1);
        try (Cluster each = new Cluster()) {
            for (int server = 0; server < SERVERS; server++) {
                each.add(1, device(server));
            }
            inTime(() -> fencesWhatItIsAskedTo(each));
        } finally {
            Softverbs.devices(1);
        }
    }

    private static String device(int server) {
        return "soft" + (server + 1);
    }

    private static void fencesWhatItIsAskedTo(Cluster each) throws Exception {
        MemorySegment memory = MemorySegment.ofArray(new byte[PAGE]);
        try (Cache cache = cache(each, "soft0", Resilience.failureRecovery(2, 2));
                FutureCacheSession futures = cache.openFutureSession()) {
            futures.write(0, memory).get();
            int used = 0;
            while (each.freeRegions(used) > 0) {
                used++;
            }
            try (DeviceFaults faults = DeviceFaults.of(device(used))) {
                faults.slow(1, FOREVER_NANOS);
                while (cache.health().counts().voided() == 0) {
                    futures.write(0, memory).get();
                }
            }
            while (!cache.health().whole() || free(each) < 1) {
                Thread.sleep(1);
            }
        }
    }

    static List<CacheConfiguration> ownAndClientThreads() {
        return List.of(Configurations.DIRECT, Configurations.HANDED_OVER);
    }

    /** The leases of these servers hold, so the servers are not lost. */
    @ParameterizedTest
    @MethodSource("ownAndClientThreads")
    void aCacheIsClosedThoughMoreServersAreCutOffThanTheCodeSurvives(CacheConfiguration how) {
        onFourDevices(each -> closesWhileThreeAreCutOff(each, how));
    }

    private static void onFourDevices(ThrowingConsumer<Cluster> steps) {
        int servers = 4;
        Softverbs.devices(servers + 1);
        try (Cluster each = new Cluster()) {
            for (int server = 0; server < servers; server++) {
                each.add(1, device(server));
            }
            inTime(() -> steps.accept(each));
        } finally {
            Softverbs.devices(1);
        }
    }

    /** A close that waits for servers which are cut off ends when its time has passed, which need not be long here. */
    private static void closeSoon(Cache cache) {
        CodedServers servers = Fields.get(cache, "servers", CodedServers.class);
        Fields.get(servers.space(), "space", SpaceState.class).closeNanos = CLOSE_NANOS;
    }

    private static void closesWhileThreeAreCutOff(Cluster each, CacheConfiguration how) throws Exception {
        MemorySegment memory = MemorySegment.ofArray(new byte[PAGE]);
        List<CompletableFuture<Void>> writes = new ArrayList<>();
        try (DeviceFaults first = DeviceFaults.of(device(0));
                DeviceFaults second = DeviceFaults.of(device(1));
                DeviceFaults third = DeviceFaults.of(device(2));
                Cache cache = builder(each, "soft0", Resilience.failureRecovery(2, 2))
                        .capacity(5 * PAGE)
                        .configuration(how)
                        .create()) {
            closeSoon(cache);
            CacheSession session = cache.openSession();
            session.writeBlocking(0, memory);
            List.of(first, second, third).forEach(DeviceFaults::cut);
            assertTrue(session.write(0, memory, (token, status) -> {}, 0));
            for (int page = 1; page < 4; page++) {
                FutureCacheSession futures = cache.openFutureSession();
                futures.closeWithin(CLOSE_NANOS);
                writes.add(futures.write((long) page * PAGE, memory));
            }
            CacheSession blocks = cache.openSession();
            CompletableFuture<Void> blocking = new CompletableFuture<>();
            Thread blocked = Thread.ofPlatform().start(() -> {
                try {
                    blocks.writeBlocking(4 * PAGE, memory);
                    blocking.complete(null);
                } catch (Throwable e) {
                    blocking.completeExceptionally(e);
                }
            });
            writes.add(blocking);
            while (blocked.getState() != Thread.State.TIMED_WAITING && blocked.getState() != Thread.State.WAITING) {
                Thread.onSpinWait();
            }
            cache.close();
        }
        for (CompletableFuture<Void> write : writes) {
            assertThrows(ExecutionException.class, write::get);
        }
    }

    /** Another session of the same client thread has a request on its way meanwhile, which continues. */
    @Test
    void sessionsOfAClientThreadAreClosedThoughMoreServersAreCutOffThanTheCodeSurvives() {
        onFourDevices(LateCodedCacheTest::closesSessionsWhileThreeAreCutOff);
    }

    private static void closesSessionsWhileThreeAreCutOff(Cluster each) throws Exception {
        MemorySegment ones = filled(1);
        MemorySegment twos = filled(2);
        List<Integer> closed = new ArrayList<>();
        List<Integer> stayed = new ArrayList<>();
        try (DeviceFaults first = DeviceFaults.of(device(0));
                DeviceFaults second = DeviceFaults.of(device(1));
                DeviceFaults third = DeviceFaults.of(device(2));
                Cache cache = builder(each, "soft0", Resilience.failureRecovery(2, 2))
                        .capacity(4 * PAGE)
                        .configuration(Configurations.HANDED_OVER)
                        .create();
                CacheSession stays = cache.openSession();
                CacheSession leaves = cache.openSession();
                FutureCacheSession futures = cache.openFutureSession()) {
            closeSoon(cache);
            futures.closeWithin(CLOSE_NANOS);
            stays.writeBlocking(0, filled(0));
            List<DeviceFaults> cut = List.of(first, second, third);
            cut.forEach(DeviceFaults::cut);
            assertTrue(stays.write(0, ones, (token, status) -> stayed.add(status), 0));
            Completion whenClosed = (token, status) -> closed.add(status);
            assertTrue(leaves.write(PAGE, twos, whenClosed, 0));
            // This write waits for the other session's write of the same page.
            assertTrue(leaves.write(0, twos, whenClosed, 0));
            assertTrue(leaves.read(3 * PAGE, filled(0), whenClosed, 0));
            CompletableFuture<Void> write = futures.write(2 * PAGE, twos);
            while (!leaves.core().pending.describe().contains("has taken all")) {
                Thread.onSpinWait();
            }
            Thread closing = Thread.ofPlatform().start(futures::close);
            leaves.close();
            assertEquals(List.of(Status.CLOSED, Status.CLOSED, Status.CLOSED), closed);
            closing.join();
            assertThrows(ExecutionException.class, write::get);
            stays.poll();
            assertEquals(List.of(), stayed);
            assertEquals(0, cache.health().voidSlabs());
            cut.forEach(DeviceFaults::heal);
            stays.drain();
            assertEquals(List.of(Status.OK), stayed);
            assertHas(stays, 0, ones);
            // The writes that were on their way when their sessions were closed have continued.
            assertHas(stays, PAGE, twos);
            assertHas(stays, 2 * PAGE, twos);
            stays.writeBlocking(PAGE, ones);
            assertHas(stays, PAGE, ones);
        }
    }

    private static MemorySegment filled(int value) {
        return MemorySegment.ofArray(new byte[PAGE]).fill((byte) value);
    }

    private static void assertHas(CacheSession session, long address, MemorySegment expected) {
        MemorySegment read = filled(0);
        session.readBlocking(address, read);
        assertEquals(-1, read.mismatch(expected));
    }

    private static int free(Cluster each) {
        int free = 0;
        for (int server = 0; server < SERVERS; server++) {
            free += each.freeRegions(server);
        }
        return free;
    }

    @Test
    void aStrictWriteThatWaitsForASlabThereIsNoRoomForIsClosedWithItsSession() {
        try (Cache cache = cache(Resilience.failureRecovery(2, 2).strict(true))) {
            inTime(() -> {
                MemorySegment memory = MemorySegment.ofArray(new byte[PAGE]);
                List<Integer> statuses = new ArrayList<>();
                try (CacheSession session = cache.openSession()) {
                    session.writeBlocking(0, memory);
                    cluster.stop(0);
                    assertTrue(session.write(0, memory, (token, status) -> statuses.add(status), 0));
                    while (cache.health().voidSlabs() == 0) {
                        session.poll();
                    }
                    for (int i = 0; i < 100; i++) {
                        session.poll();
                    }
                    assertEquals(List.of(), statuses);
                }
                assertEquals(List.of(Status.CLOSED), statuses);
            });
        }
    }

    @Test
    void aWriteThatWaitsForASlabOnlyAfterItsSessionBeganToCloseIsClosedToo() {
        try (Cache cache = cache(Resilience.failureRecovery(2, 2).strict(true))) {
            inTime(() -> {
                MemorySegment memory = MemorySegment.ofArray(new byte[PAGE]);
                List<Integer> statuses = new ArrayList<>();
                try (CacheSession session = cache.openSession()) {
                    session.writeBlocking(0, memory);
                    cluster.stop(0);
                    SoftverbsFaults.delayOperations(LATE_NANOS);
                    assertTrue(session.write(0, memory, (token, status) -> statuses.add(status), 0));
                }
                assertEquals(List.of(Status.CLOSED), statuses);
            });
        }
    }

    @Test
    void aStrictWriteThatWaitsForASlabThereIsNoRoomForFailsWithItsFutures() {
        try (Cache cache = cache(Resilience.failureRecovery(2, 2).strict(true))) {
            inTime(() -> {
                MemorySegment memory = MemorySegment.ofArray(new byte[PAGE]);
                CompletableFuture<Void> write;
                try (FutureCacheSession futures = cache.openFutureSession()) {
                    futures.closeWithin(CLOSE_NANOS);
                    futures.write(0, memory).get();
                    cluster.stop(0);
                    write = futures.write(0, memory);
                }
                assertThrows(ExecutionException.class, write::get);
            });
        }
    }

    /** The first writes take all places of the session, so the next ones find none. */
    @Test
    @Tag("full")
    void soDoThoseThatFindNoPlaceBehindThem() {
        Resilience strict = Resilience.failureRecovery(2, 2).strict(true);
        try (Cache cache =
                builder(cluster, TestDevice.client(), strict).requests(2).create()) {
            inTime(() -> {
                MemorySegment memory = MemorySegment.ofArray(new byte[PAGE]);
                List<CompletableFuture<Void>> writes = new ArrayList<>();
                try (FutureCacheSession futures = cache.openFutureSession()) {
                    futures.closeWithin(CLOSE_NANOS);
                    futures.write(0, memory).get();
                    cluster.stop(0);
                    for (int i = 0; i < 6; i++) {
                        writes.add(futures.write(0, memory));
                    }
                }
                for (CompletableFuture<Void> write : writes) {
                    assertThrows(ExecutionException.class, write::get);
                }
            });
        }
    }

    @Test
    void aRequestThatWaitsForAnotherSessionsWriteIsClosedWithItsSession() {
        try (Cache cache = cache(Resilience.failureRecovery(2, 2))) {
            inTime(() -> {
                MemorySegment memory = MemorySegment.ofArray(new byte[PAGE]);
                List<Integer> statuses = new ArrayList<>();
                try (CacheSession writes = cache.openSession()) {
                    writes.writeBlocking(0, memory);
                    SoftverbsFaults.delayOperations(LATE_NANOS);
                    assertTrue(writes.write(0, memory, (token, status) -> assertEquals(Status.OK, status), 0));
                    try (CacheSession waits = cache.openSession()) {
                        assertTrue(waits.write(0, memory, (token, status) -> statuses.add(status), 0));
                        assertTrue(waits.read(0, memory, (token, status) -> statuses.add(status), 0));
                        waits.poll();
                        assertEquals(List.of(), statuses);
                    }
                    assertEquals(List.of(Status.CLOSED, Status.CLOSED), statuses);
                    writes.drain();
                }
            });
        }
    }
}
