package io.farheap.cache;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.cache.contract.CacheConfiguration;
import io.farheap.cache.contract.CacheException;
import io.farheap.cache.contract.Status;
import io.farheap.control.grpc.ControlServer;
import io.farheap.control.plane.ControlPlane;
import io.farheap.metrics.ResilienceMetrics;
import io.farheap.migration.MigrationOptions;
import io.farheap.migration.MigrationResult;
import io.farheap.resilience.contract.Health;
import io.farheap.resilience.contract.Resilience;
import io.farheap.server.MemoryServer;
import io.farheap.server.Planes;
import io.farheap.server.contract.ServerOptions;
import io.farheap.testing.Effort;
import io.farheap.testing.PlaneProxy;
import io.farheap.testing.TestDevice;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** The behaviour of caches with resilience only; {@link CacheSessionTest} tests the behaviour of all caches. */
class CodedCacheTest {

    private static final int CAPACITY = (int) (4 * Cluster.REGION_BYTES);
    private static final Resilience CODE = Resilience.failureRecovery(2, 2);

    private static CacheBuilder on(Cluster cluster) {
        return Cache.builder()
                .capacity(CAPACITY)
                .servers(cluster.addresses())
                .device(TestDevice.client())
                .resilience(CODE);
    }

    private static void await(String what, BooleanSupplier condition) {
        long deadline = System.nanoTime() + TestDevice.patience(60_000_000_000L);
        while (!condition.getAsBoolean()) {
            assertTrue(System.nanoTime() - deadline < 0, "waited too long for: " + what);
            LockSupport.parkNanos(2_000_000);
        }
    }

    @Test
    void outlivesTwoServersAndSaysSo() {
        List<Health> told = Collections.synchronizedList(new ArrayList<>());
        SplittableRandom random = new SplittableRandom(11);
        byte[] shadow = new byte[CAPACITY];
        random.nextBytes(shadow);
        try (Cluster cluster = new Cluster(2, 2, 2, 2, 2, 2);
                Cache cache = on(cluster).onHealth(told::add).create();
                CacheSession session = cache.openSession()) {
            session.writeBlocking(0, MemorySegment.ofArray(shadow));
            assertEquals(2, cache.health().mayLose());
            assertEquals(8, cache.regions());
            assertEquals(Cluster.REGION_BYTES, cache.regionBytes());
            List<Integer> used = cluster.addresses().stream()
                    .filter(address -> address.equals(cache.serverOf(0)) || address.equals(cache.serverOf(1)))
                    .map(cluster.addresses()::indexOf)
                    .toList();
            List<String> addresses = used.stream().map(cluster::address).toList();
            used.forEach(cluster::stop);
            for (int i = 0; i < 100; i++) {
                int length = 1 + random.nextInt(10_000);
                int at = random.nextInt(CAPACITY - length);
                byte[] bytes = new byte[length];
                random.nextBytes(bytes);
                System.arraycopy(bytes, 0, shadow, at, length);
                session.writeBlocking(at, MemorySegment.ofArray(bytes));
            }
            await("the cache to be whole", () -> {
                session.poll();
                return cache.health().whole() && cache.health().mayLose() == 2;
            });
            byte[] read = new byte[CAPACITY];
            session.readBlocking(0, MemorySegment.ofArray(read));
            assertEquals(-1, MemorySegment.ofArray(shadow).mismatch(MemorySegment.ofArray(read)));
            await("the listener to hear that it is", () -> {
                synchronized (told) {
                    return told.size() > 1
                            && told.getLast().whole()
                            && told.getLast().mayLose() == 2;
                }
            });
            synchronized (told) {
                assertTrue(told.stream().anyMatch(health -> health.mayLose() < 2), "nobody was told of the loss");
            }
            for (int slab = 0; slab < cache.regions(); slab++) {
                assertFalse(addresses.contains(cache.serverOf(slab)));
            }
        }
    }

    /** Creates a cache, again if a short lease expires before the cache is created, as it may on a busy machine. */
    private static Cache createdInTime(CacheBuilder builder) {
        long deadline = System.nanoTime() + TestDevice.patience(60_000_000_000L);
        while (true) {
            try {
                return builder.create();
            } catch (CacheException e) {
                assertTrue(System.nanoTime() - deadline < 0, e::toString);
            }
        }
    }

    /** No request is made meanwhile, so only the lease shows that the server is lost. */
    @Test
    @Execution(ExecutionMode.CONCURRENT)
    void aServerThatIsAddedGetsTheSlabsOfOneThatIsLost() {
        ConcurrentLinkedQueue<String> lost = new ConcurrentLinkedQueue<>();
        try (Cluster cluster = new Cluster(2, 2, 2)) {
            String brief = cluster.add(2, TestDevice.shortLease(4_000_000_000L));
            try (Cache cache = createdInTime(on(cluster).onLost((address, why, slabs) -> lost.add(address)));
                    CacheSession session = cache.openSession()) {
                byte[] bytes = new byte[CAPACITY];
                new SplittableRandom(12).nextBytes(bytes);
                session.writeBlocking(0, MemorySegment.ofArray(bytes));
                cluster.stop(3);
                await("the loss", () -> cache.health().mayLose() == 1);
                await("the listener to hear of it", () -> lost.contains(brief));
                String added = cluster.add(2);
                cache.addServer(added);
                assertTrue(cache.servers().contains(added));
                await("the cache to be whole", () -> {
                    session.poll();
                    return cache.health().whole();
                });
                assertEquals(0, cluster.freeRegions(4));
                byte[] read = new byte[CAPACITY];
                session.readBlocking(0, MemorySegment.ofArray(read));
                assertEquals(-1, MemorySegment.ofArray(bytes).mismatch(MemorySegment.ofArray(read)));
            }
        }
    }

    @Test
    void metricsAndRecordingsHaveItsHealth(@TempDir Path directory) throws Exception {
        Path file = directory.resolve("recording.jfr");
        SimpleMeterRegistry registry = new SimpleMeterRegistry();
        try (Cluster cluster = new Cluster(2, 2, 2, 2, 2);
                Recording recording = new Recording();
                Cache cache = on(cluster).name("recorded").create();
                CacheSession session = cache.openSession()) {
            recording.enable("io.farheap.ResilienceStatistics").with("period", "endChunk");
            recording.enable("io.farheap.HealthChanged");
            recording.start();
            new ResilienceMetrics(cache).bindTo(registry);
            assertEquals(8, gauge(registry, "farheap.resilience.slabs", "state", "good"));
            session.writeBlocking(0, MemorySegment.ofArray(new byte[CAPACITY]));
            String gone = cache.serverOf(0);
            cluster.stop(cluster.addresses().indexOf(gone));
            await("a slab to be regenerated", () -> {
                session.writeBlocking(0, MemorySegment.ofArray(new byte[CAPACITY]));
                return cache.health().regenerated() > 0 && cache.health().whole();
            });
            Health health = cache.health();
            assertEquals(health.counts().writes(), count(registry, "farheap.resilience.pages", "what", "written"));
            assertEquals(health.counts().degraded(), count(registry, "farheap.resilience.pages", "what", "degraded"));
            assertEquals(health.regenerated(), count(registry, "farheap.resilience.regenerated", "cache", "recorded"));
            assertEquals(
                    health.regenerationBytesRebuilt(),
                    count(registry, "farheap.resilience.regeneration.rebuilt", "cache", "recorded"));
            assertEquals(health.mayLose(), gauge(registry, "farheap.resilience.may.lose", "cache", "recorded"));
            assertEquals(0, gauge(registry, "farheap.resilience.may.be.corrupt", "cache", "recorded"));
            assertEquals(0, count(registry, "farheap.resilience.evicted", "cache", "recorded"));
            byte[] page = new byte[CAPACITY];
            for (int read = 0; read < 256; read++) {
                session.readBlocking(0, MemorySegment.ofArray(page));
            }
            String asked = cache.serverOf(0);
            assertTrue(count(registry, "farheap.resilience.asked", "server", asked) > 0, asked);
            // On a busy machine the server may be suspected for a while.
            assertTrue(gauge(registry, "farheap.resilience.suspect", "server", asked) <= 1, asked);
            assertTrue(
                    count(registry, "farheap.resilience.errors", "server", gone) > 0,
                    "no error of " + gone + " in " + health);
            recording.stop();
            recording.dump(file);
        }
        List<RecordedEvent> events = RecordingFile.readAllEvents(file).stream()
                .filter(event -> event.getEventType().getName().startsWith("io.farheap."))
                .toList();
        assertTrue(events.stream()
                .anyMatch(event -> event.getEventType().getName().equals("io.farheap.HealthChanged")
                        && event.getInt("mayLose") < 2));
        RecordedEvent last = events.stream()
                .filter(event -> event.getEventType().getName().equals("io.farheap.ResilienceStatistics"))
                .toList()
                .getLast();
        assertEquals("recorded", last.getString("client"));
        assertTrue(last.getLong("regenerated") > 0);
    }

    private static double gauge(SimpleMeterRegistry registry, String name, String tag, String value) {
        return registry.get(name).tags("cache", "recorded", tag, value).gauge().value();
    }

    /** @return the sum of all counters with these tags */
    private static double count(SimpleMeterRegistry registry, String name, String tag, String value) {
        return registry.get(name).tags("cache", "recorded", tag, value).functionCounters().stream()
                .mapToDouble(FunctionCounter::count)
                .sum();
    }

    @Test
    void aFileFillsIt(@TempDir Path directory) throws Exception {
        byte[] bytes = new byte[CAPACITY - 5000];
        new SplittableRandom(13).nextBytes(bytes);
        Path file = Files.write(directory.resolve("content"), bytes);
        try (Cluster cluster = new Cluster(2, 2, 2, 2);
                Cache cache = on(cluster).file(file).create();
                CacheSession session = cache.openSession();
                Buffer buffer = cache.allocate(CAPACITY)) {
            session.readBlocking(0, buffer, 0, CAPACITY);
            MemorySegment expected = MemorySegment.ofArray(java.util.Arrays.copyOf(bytes, CAPACITY));
            assertEquals(-1, expected.mismatch(buffer.segment().asSlice(0, CAPACITY)));
        }
    }

    /** The end of the cache wakes a session's thread, which must not continue to sleep, nor touch freed memory. */
    @Test
    void itIsDeletedWhileSessionsOfOtherThreadsSleep() throws Exception {
        for (int round = 0; round < Effort.either(2, 20); round++) {
            AtomicReference<Throwable> thrown = new AtomicReference<>();
            CountDownLatch opened = new CountDownLatch(2);
            List<Thread> owners = new ArrayList<>();
            try (Cluster cluster = new Cluster(2, 2, 2, 2);
                    Cache cache = on(cluster).create()) {
                for (boolean busy : new boolean[] {false, true}) {
                    owners.add(Thread.ofPlatform().start(() -> {
                        try {
                            CacheSession session = cache.openSession();
                            MemorySegment memory = MemorySegment.ofArray(new byte[CAPACITY]);
                            opened.countDown();
                            while (true) {
                                if (busy) {
                                    session.write(0, memory, (token, status) -> {}, 0);
                                }
                                session.awaitProgress();
                            }
                        } catch (Throwable e) {
                            thrown.compareAndSet(null, e instanceof IllegalStateException ? null : e);
                        }
                    }));
                }
                opened.await();
                if (round % 2 == 0) {
                    Thread.sleep(2);
                }
                cache.close();
                for (Thread owner : owners) {
                    owner.join(TestDevice.patience(30_000));
                    assertFalse(owner.isAlive(), "a session's thread sleeps on");
                }
                assertEquals(null, thrown.get());
                for (int server = 0; server < 4; server++) {
                    assertEquals(2, cluster.freeRegions(server));
                }
            }
        }
    }

    @Test
    void whatIsNotBuiltIsRefusedBeforeAnythingIsTaken() {
        try (Cluster cluster = new Cluster(2, 2, 2, 2)) {
            assertRefused("batch of 1", on(cluster).configuration(Configurations.BATCHED));
            assertRefused(
                    "by address",
                    Cache.builder().capacity(1).manager("127.0.0.1:1").resilience(CODE));
            assertRefused("failure domains", on(cluster).resilience(Resilience.failureRecovery(3, 2)));
            assertRefused(
                    "without resilience",
                    Cache.builder().capacity(1).servers(cluster.addresses()).onHealth(health -> {}));
            for (int server = 0; server < 4; server++) {
                assertEquals(2, cluster.freeRegions(server));
            }
        }
    }

    private static void assertRefused(String remedy, CacheBuilder builder) {
        String message = assertThrows(
                        IllegalArgumentException.class, () -> builder.create().close())
                .getMessage();
        assertTrue(message.contains(remedy), message);
    }

    @Test
    void whatItDoesNotDoChangesNothing() {
        try (Cluster cluster = new Cluster(2, 2, 2, 2);
                Cache cache = on(cluster).create();
                CacheSession session = cache.openSession()) {
            List<Runnable> all = List.of(
                    () -> cache.reconfigure(CacheConfiguration.DIRECT),
                    () -> cache.reshape(1),
                    () -> cache.retune(),
                    () -> cache.migrate(0, cluster.address(1)),
                    () -> cache.migrate(List.of(0), cluster.address(1), MigrationOptions.DEFAULT));
            for (Runnable call : all) {
                String message = assertThrows(UnsupportedOperationException.class, call::run)
                        .getMessage();
                assertTrue(message.startsWith("a coded cache does not "), message);
            }
            assertThrows(IllegalStateException.class, cache::id);
            MemorySegment memory = MemorySegment.ofArray(new byte[] {1, 2, 3});
            session.writeBlocking(CAPACITY - 3, memory);
            byte[] read = new byte[3];
            session.readBlocking(CAPACITY - 3, MemorySegment.ofArray(read));
            assertEquals(3, MemorySegment.ofArray(read).get(JAVA_BYTE, 2));
        }
        try (Cluster cluster = new Cluster(1);
                Cache cache = Cache.builder()
                        .capacity(1)
                        .servers(cluster.address(0))
                        .device(TestDevice.client())
                        .create()) {
            assertThrows(UnsupportedOperationException.class, cache::health);
        }
    }

    /** Open sessions can use the new part at once, also if it is on servers that were added later. */
    @Test
    void aCacheGrowsWhileItIsUsed() {
        byte[] bytes = new byte[CAPACITY];
        new SplittableRandom(19).nextBytes(bytes);
        try (Cluster cluster = new Cluster(2, 2, 2, 2);
                Cache cache = on(cluster).create();
                CacheSession session = cache.openSession()) {
            session.writeBlocking(0, MemorySegment.ofArray(bytes));
            String message = assertThrows(CacheException.class, () -> cache.reshape(2L * CAPACITY))
                    .getMessage();
            assertTrue(message.startsWith("the cache stays as it is: k + r = 4 slabs need"), message);
            assertEquals(CAPACITY, cache.capacity());
            assertThrows(
                    IndexOutOfBoundsException.class,
                    () -> session.readBlocking(CAPACITY, MemorySegment.ofArray(new byte[1])));
            for (int i = 0; i < 4; i++) {
                cache.addServer(cluster.add(2));
            }
            cache.reshape(2L * CAPACITY - 1);
            assertEquals(2L * CAPACITY - 1, cache.capacity());
            assertEquals(16, cache.regions());
            byte[] read = new byte[CAPACITY - 1];
            Arrays.fill(read, (byte) 1);
            session.readBlocking(CAPACITY, MemorySegment.ofArray(read));
            assertArrayEquals(new byte[CAPACITY - 1], read);
            session.writeBlocking(CAPACITY - 1, MemorySegment.ofArray(bytes));
            assertThrows(
                    IndexOutOfBoundsException.class,
                    () -> session.readBlocking(2L * CAPACITY - 1, MemorySegment.ofArray(new byte[1])));
            read = new byte[CAPACITY];
            session.readBlocking(CAPACITY - 1, MemorySegment.ofArray(read));
            assertArrayEquals(bytes, read);
            // The first part is unchanged, except for its last byte, with which the other write began.
            session.readBlocking(0, MemorySegment.ofArray(read));
            bytes[CAPACITY - 1] = bytes[0];
            assertArrayEquals(bytes, read);
            assertEquals(2, cache.health().mayLose());
        }
    }

    /** Meanwhile the cache is read and written, and compared with a shadow copy. */
    @Test
    void aServerThatIsRetiredIsLeftWithNothing() {
        SplittableRandom random = new SplittableRandom(17);
        byte[] shadow = new byte[CAPACITY];
        random.nextBytes(shadow);
        try (Cluster cluster = new Cluster(2, 2, 2, 2, 2);
                Cache cache = on(cluster).create();
                CacheSession session = cache.openSession()) {
            session.writeBlocking(0, MemorySegment.ofArray(shadow));
            String leaves = cache.serverOf(0);
            int slabs = (int) IntStream.range(0, cache.regions())
                    .filter(slab -> cache.serverOf(slab).equals(leaves))
                    .count();
            List<MigrationResult> moves = Collections.synchronizedList(new ArrayList<>());
            CompletableFuture<MigrationResult> retired =
                    CompletableFuture.supplyAsync(() -> cache.retire(leaves, moves::add));
            byte[] read = new byte[10_000];
            while (!retired.isDone()) {
                int length = 1 + random.nextInt(read.length);
                int at = random.nextInt(CAPACITY - length);
                byte[] bytes = new byte[length];
                random.nextBytes(bytes);
                System.arraycopy(bytes, 0, shadow, at, length);
                session.writeBlocking(at, MemorySegment.ofArray(bytes));
                at = random.nextInt(CAPACITY - read.length);
                session.readBlocking(at, MemorySegment.ofArray(read));
                assertArrayEquals(Arrays.copyOfRange(shadow, at, at + read.length), read);
            }
            assertEquals(slabs, retired.join().regions());
            assertEquals(slabs * Cluster.REGION_BYTES, retired.join().bytes());
            assertEquals(slabs, moves.size());
            assertFalse(cache.servers().contains(leaves));
            // If the server answers late, on a busy machine, it has its memory back when the cache's lease expires.
            await(
                    "the server to have its memory",
                    () -> cluster.freeRegions(cluster.addresses().indexOf(leaves)) == 2);
            assertTrue(cache.health().whole());
            assertEquals(2, cache.health().mayLose());
            assertEquals(0, cache.health().evicted());
            byte[] all = new byte[CAPACITY];
            session.readBlocking(0, MemorySegment.ofArray(all));
            assertArrayEquals(shadow, all);
            // The server may be added again.
            cache.addServer(leaves);
            assertEquals(MigrationResult.NONE, cache.retire(leaves, moves::add));
        }
    }

    @Test
    void whatHasNoOtherPlaceIsNotRetired() {
        try (Cluster cluster = new Cluster(2, 2, 2, 2);
                Cache cache = on(cluster).create();
                CacheSession session = cache.openSession()) {
            String message = assertThrows(CacheException.class, () -> cache.retire(cluster.address(1), moved -> {}))
                    .getMessage();
            assertTrue(message.contains("without it there are 3 failure domains, and a range needs 4"), message);
            assertTrue(cache.servers().contains(cluster.address(1)));
            assertThrows(CacheException.class, () -> cache.retire("127.0.0.1:1", moved -> {}));
            session.writeBlocking(0, MemorySegment.ofArray(new byte[] {1}));
            assertTrue(cache.health().whole());
        }
        try (Cluster cluster = new Cluster(4, 4);
                Cache cache = on(cluster).resilience(Resilience.copies(1)).create()) {
            String message = assertThrows(CacheException.class, () -> cache.retire(cache.serverOf(0), moved -> {}))
                    .getMessage();
            assertTrue(message.contains("a range can spare none of its 1 slabs"), message);
        }
    }

    private static ControlPlane allocatingOnlyAfter(CountDownLatch event, ControlPlane plane) {
        return PlaneProxy.around(plane, (method, arguments, rest) -> {
            if (method.equals("allocate")) {
                event.await();
            }
            return rest.call();
        });
    }

    /** A lost server stays among the cache's servers until its slabs have another place. */
    @Test
    @Execution(ExecutionMode.CONCURRENT)
    void theServerThatIsThereIsRetiredAndNotTheOneBeforeIt() {
        try (Cluster cluster = new Cluster(2, 2, 2)) {
            String address = cluster.add(2, TestDevice.shortLease(4_000_000_000L));
            CountDownLatch added = new CountDownLatch(1);
            try (Cache cache = createdInTime(on(cluster));
                    CacheSession session = cache.openSession()) {
                byte[] bytes = new byte[CAPACITY];
                new SplittableRandom(19).nextBytes(bytes);
                session.writeBlocking(0, MemorySegment.ofArray(bytes));
                cluster.stop(3);
                await("the loss", () -> cache.health().servers().stream().anyMatch(Health.Server::lost));
                try (MemoryServer anew = MemoryServer.open(new ServerOptions(
                                2 * Cluster.REGION_BYTES,
                                Cluster.REGION_BYTES,
                                TestDevice.patience(30_000_000_000L),
                                TestDevice.server(),
                                "anew"));
                        ControlServer _ = ControlServer.start(address, allocatingOnlyAfter(added, Planes.of(anew)))) {
                    // If a slab had its new place before the addition, the addition would forget the lost server.
                    cache.addServer(address);
                    added.countDown();
                    await("all slabs are good", () -> cache.health().whole());
                    assertEquals(2, Collections.frequency(cache.servers(), address));
                    cache.addServer(cluster.add(2));
                    assertEquals(2, cache.retire(address, moved -> {}).regions());
                    await(
                            "the server to have its memory",
                            () -> anew.description().freeRegions() == 2);
                }
                byte[] read = new byte[CAPACITY];
                session.readBlocking(0, MemorySegment.ofArray(read));
                assertArrayEquals(bytes, read);
                assertTrue(cache.health().whole());
            }
        }
    }

    /**
     * Splits that are not written yet keep other sessions from writing, and a thread may stop polling after such a call
     * has returned.
     */
    @Test
    void nothingIsOwedWhenABlockingWriteOrADrainReturns() {
        try (Cluster cluster = new Cluster(2, 2, 2, 2);
                Cache cache = on(cluster).resilience(Resilience.ecOnly(2, 2)).create();
                CacheSession first = cache.openSession();
                CacheSession second = cache.openSession()) {
            MemorySegment memory = MemorySegment.ofArray(new byte[8192]);
            AtomicBoolean done = new AtomicBoolean();
            for (int i = 0; i < Effort.count(500); i++) {
                first.writeBlocking(0, memory);
                // No thread polls the first session meanwhile.
                second.writeBlocking(0, memory);
                done.set(false);
                while (!first.write(0, memory, (token, status) -> done.set(status == Status.OK), 0)) {
                    first.awaitProgress();
                }
                first.drain();
                assertTrue(done.get());
                second.writeBlocking(0, memory);
            }
        }
    }
}
