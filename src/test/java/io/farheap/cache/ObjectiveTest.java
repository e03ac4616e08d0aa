package io.farheap.cache;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.cache.contract.CacheConfiguration;
import io.farheap.cache.contract.CacheException;
import io.farheap.cache.contract.Completion;
import io.farheap.cache.contract.SloReport;
import io.farheap.cache.contract.Status;
import io.farheap.measure.Measurement;
import io.farheap.metrics.CacheMetrics;
import io.farheap.slo.Configuration;
import io.farheap.slo.InfeasibleSloException;
import io.farheap.slo.MeasurementPlan;
import io.farheap.slo.ModelSubject;
import io.farheap.slo.Objective;
import io.farheap.slo.Performance;
import io.farheap.slo.PerformanceModel;
import io.farheap.slo.Slo;
import io.farheap.testing.Need;
import io.farheap.testing.Needs;
import io.farheap.testing.TestDevice;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Caches that are created with an objective. Their models are made up, so that they predict what a test needs. */
@Needs(Need.SOFTVERBS)
class ObjectiveTest {

    /** More throughput, and more latency, with more server threads, larger batches and deeper queues. */
    private static final Measurement PROMISES = how -> {
        double size = how.batchSize() * how.queueDepth() * (1 + how.serverThreads());
        return new Performance(1_000 * size, 1e5 * size, 1_000 * size, 1e5 * size);
    };

    private final Cluster cluster = new Cluster(4);

    @TempDir
    private Path directory;

    @AfterEach
    void close() {
        cluster.close();
    }

    private static PerformanceModel model(String device) {
        ModelSubject subject = new ModelSubject(device, "made up", 0, 64, 50, 1, 4);
        MeasurementPlan plan = new MeasurementPlan(subject);
        try {
            while (!plan.complete()) {
                plan.record(PROMISES.measure(plan.next()));
            }
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
        return plan.model();
    }

    private CacheBuilder builder() {
        return Cache.builder()
                .capacity(2 * Cluster.REGION_BYTES)
                .servers(cluster.addresses())
                .model(model("soft0 (soft)"));
    }

    private static Slo reads(double nanos, double perSecond) {
        return new Slo(new Objective(nanos, perSecond), Objective.NONE);
    }

    @Test
    void itRunsWithTheConfigurationThatWasFound() {
        try (Cache cache = builder().margin(0).slo(reads(1e9, 3e6)).create()) {
            assertEquals(
                    new Configuration(1, 1, 4, 4),
                    cache.explanation().orElseThrow().chosen().configuration());
            checkItWorks(cache);
        }
        try (Cache cache =
                builder().margin(0).create(2 * Cluster.REGION_BYTES, reads(1e9, 2e5), Duration.ofHours(1), null)) {
            assertEquals(
                    new Configuration(1, 0, 1, 2),
                    cache.explanation().orElseThrow().chosen().configuration());
            checkItWorks(cache);
        }
    }

    private static void checkItWorks(Cache cache) {
        try (CacheSession session = cache.openSession();
                Buffer buffer = cache.allocate(4096)) {
            int[] done = {0};
            Completion count = (token, status) -> done[0] += status == Status.OK ? 1 : 0;
            for (int i = 0; i < 64; i++) {
                buffer.segment().set(JAVA_LONG, i * 8L, i + 1);
                while (!session.write(i * 64L, buffer, i * 8L, 8, count, 0)) {
                    session.poll();
                }
            }
            session.drain();
            for (int i = 0; i < 64; i++) {
                while (!session.read(i * 64L, buffer, 2048 + i * 8L, 8, count, 0)) {
                    session.poll();
                }
            }
            session.drain();
            assertEquals(128, done[0]);
            for (int i = 0; i < 64; i++) {
                assertEquals(i + 1, buffer.segment().get(JAVA_LONG, 2048 + i * 8L));
            }
            assertTrue(cache.latency().sums().writes() > 0, "requests are timed");
        }
    }

    @Test
    void itIsReshapedWhileItIsUsed() {
        try (Cache cache = builder().margin(0).slo(reads(1e9, 1e5)).create();
                CacheSession session = cache.openSession();
                Buffer buffer = cache.allocate(4096)) {
            buffer.segment().set(JAVA_LONG, 0, 77);
            session.writeBlocking(64, buffer, 0, 8);

            assertEquals(
                    new Configuration(1, 1, 4, 4),
                    cache.reshape(reads(1e9, 3e6)).chosen().configuration());
            assertEquals(
                    new Configuration(1, 1, 4, 4),
                    cache.explanation().orElseThrow().chosen().configuration());
            assertEquals(CacheConfiguration.DIRECT.with(0, 1, 4, 4), cache.configuration());
            checkItWorks(cache);
            session.readBlocking(64, buffer, 8, 8);
            assertEquals(2, buffer.segment().get(JAVA_LONG, 8), "what checkItWorks wrote");

            assertThrows(InfeasibleSloException.class, () -> cache.reshape(reads(1, 1e9)));
            assertEquals(CacheConfiguration.DIRECT.with(0, 1, 4, 4), cache.configuration());
            assertEquals(reads(1e9, 3e6), cache.explanation().orElseThrow().slo());

            assertEquals(
                    new Configuration(1, 0, 1, 1),
                    cache.reshape(reads(1e9, 1e5)).chosen().configuration());
            session.readBlocking(128, buffer, 16, 8);
            assertEquals(3, buffer.segment().get(JAVA_LONG, 16));
        }
        try (Cache cache =
                Cache.builder().capacity(1).servers(cluster.addresses()).create()) {
            assertThrows(IllegalStateException.class, () -> cache.reshape(reads(1e9, 1e5)));
            assertThrows(IllegalStateException.class, cache::retune);
        }
    }

    @Test
    void capacityAndObjectiveChangeTogetherOrNotAtAll() {
        try (Cache cache = builder().margin(0).slo(reads(1e9, 1e5)).create()) {
            cache.reconfigure(CacheConfiguration.DIRECT.with(0, 1, 4, 4));
            // There are four regions in all.
            assertThrows(CacheException.class, () -> cache.reshape(5 * Cluster.REGION_BYTES, reads(1e9, 2e5)));
            assertEquals(2 * Cluster.REGION_BYTES, cache.capacity());
            assertEquals(reads(1e9, 1e5), cache.explanation().orElseThrow().slo());
            assertEquals(CacheConfiguration.DIRECT.with(0, 1, 4, 4), cache.configuration(), "as it was, by hand");
            checkItWorks(cache);

            assertThrows(InfeasibleSloException.class, () -> cache.reshape(3 * Cluster.REGION_BYTES, reads(1, 1e9)));
            assertEquals(2 * Cluster.REGION_BYTES, cache.capacity());
            assertEquals(2, cluster.freeRegions(0));

            assertEquals(
                    new Configuration(1, 0, 1, 2),
                    cache.reshape(4 * Cluster.REGION_BYTES, reads(1e9, 2e5))
                            .chosen()
                            .configuration());
            assertEquals(4 * Cluster.REGION_BYTES, cache.capacity());
            assertEquals(reads(1e9, 2e5), cache.explanation().orElseThrow().slo());
            assertEquals(0, cluster.freeRegions(0));
            checkItWorks(cache);
        }
    }

    @Test
    void theMarginIsKept() {
        try (Cache cache = builder().margin(0.5).slo(reads(1e9, 2e5)).create()) {
            assertEquals(
                    new Configuration(1, 0, 1, 3),
                    cache.explanation().orElseThrow().chosen().configuration());
        }
    }

    @Test
    void whatCannotBeMetIsRefusedAndNothingIsTaken() {
        CacheBuilder builder = builder().slo(reads(1_500, 5e6));
        InfeasibleSloException refused = assertThrows(InfeasibleSloException.class, builder::create);
        assertFalse(refused.nearest().isEmpty());
        assertTrue(refused.getMessage().contains("with a margin of 10.0%"), refused::getMessage);
        assertEquals(4, cluster.freeRegions(0));
    }

    @Test
    void aModelOfAnotherDeviceIsRefused() {
        CacheBuilder other = builder().model(model("mlx5_0 (system)")).slo(reads(1e9, 1e5));
        String message =
                assertThrows(IllegalArgumentException.class, other::create).getMessage();
        assertTrue(message.contains("mlx5_0 (system) for a cache on soft0 (soft)"), message);
        assertEquals(4, cluster.freeRegions(0));
        try (Cache slowed = builder()
                .model(model("soft0 (soft), connectx5"))
                .slo(reads(1e9, 1e5))
                .create()) {
            assertTrue(slowed.explanation().isPresent());
        }
    }

    @Test
    void optionsThatMakeNoSenseAreRefused() {
        assertThrows(IllegalArgumentException.class, builder().model().slo(reads(1e9, 1e5))::create);
        assertThrows(
                IllegalArgumentException.class, builder().slo(reads(1e9, 1e5)).margin(-1)::create);
        assertThrows(
                IllegalArgumentException.class, builder().slo(reads(1e9, 1e5)).watch(Duration.ZERO, null)::create);
        assertThrows(IllegalArgumentException.class, () -> builder().create(1, reads(1e9, 1e5), Duration.ZERO, null));
    }

    @Test
    void aCacheWithoutAnObjectiveIsNotWatched() {
        try (Cache cache =
                Cache.builder().capacity(1).servers(cluster.addresses()).create()) {
            assertTrue(cache.explanation().isEmpty() && cache.sloReport().isEmpty());
            MeterRegistry registry = new SimpleMeterRegistry();
            new CacheMetrics(cache).bindTo(registry);
            assertEquals(0, registry.get("farheap.slo.missed").functionCounter().count());
            assertTrue(Double.isNaN(registry.get("farheap.latency")
                    .tag("operation", "read")
                    .gauge()
                    .value()));
        }
    }

    @Test
    void thePeriodOfAWatchMayBeTheLongest() {
        try (Cache cache = builder()
                .slo(reads(1e9, 1))
                .duration(Duration.ofSeconds(Long.MAX_VALUE))
                .watch(Duration.ofSeconds(Long.MAX_VALUE), null)
                .create()) {
            assertTrue(cache.explanation().isPresent() && cache.sloReport().isEmpty());
        }
    }

    @Test
    void aMissIsReportedAndRecorded() throws Exception {
        BlockingQueue<SloReport> reports = new LinkedBlockingQueue<>();
        // The model predicts a latency that no device has.
        Slo tooMuch = reads(1_100, 1);
        try (Recording recording = new Recording()) {
            recording.enable("io.farheap.SloMissed");
            recording.start();
            try (Cache cache = builder()
                            .name("watched")
                            .margin(0)
                            .slo(tooMuch)
                            .watch(Duration.ofMillis(20), reports::add)
                            .create();
                    CacheSession session = cache.openSession();
                    Buffer buffer = cache.allocate(4096)) {
                SoftverbsFaults.delayOperations(2_000_000);
                SloReport report = reports.poll(TestDevice.patience(20), TimeUnit.SECONDS);
                while (!report.missed()) {
                    // Sparse tracking samples one random request in about 64.
                    for (int i = 0; i < 8; i++) {
                        session.readBlocking(0, buffer, 0, 8);
                    }
                    report = reports.isEmpty() ? report : reports.take();
                }
                SoftverbsFaults.delayOperations(0);
                assertFalse(report.latencyMet());
                assertTrue(report.readLatencyNanos() >= 2_000_000, report::toString);
                assertTrue(cache.sloReport().isPresent());
                assertTrue(cache.sloMissed() > 0);
                MeterRegistry registry = new SimpleMeterRegistry();
                new CacheMetrics(cache).bindTo(registry);
                assertTrue(registry.get("farheap.slo.missed")
                                .tag("cache", "watched")
                                .functionCounter()
                                .count()
                        > 0);
                assertTrue(registry.get("farheap.operations")
                                .tag("operation", "read")
                                .functionCounter()
                                .count()
                        > 0);
                assertEquals(
                        1.1e-6,
                        registry.get("farheap.slo.latency")
                                .tag("operation", "read")
                                .gauge()
                                .value(),
                        1e-12);
                assertFalse(Double.isNaN(registry.get("farheap.throughput")
                        .tag("operation", "write")
                        .gauge()
                        .value()));
                session.drain();
                // The cache was thousands of times slower than its model predicts, so no configuration is good enough.
                assertThrows(InfeasibleSloException.class, cache::retune);
            }
            recording.stop();
            Path file = directory.resolve("recording.jfr");
            recording.dump(file);
            assertTrue(Files.size(file) > 0);
            List<RecordedEvent> events = RecordingFile.readAllEvents(file).stream()
                    .filter(event -> event.getString("cache").equals("watched"))
                    .toList();
            assertFalse(events.isEmpty());
            assertEquals("(c 1, s 0, b 1, q 1)", events.getFirst().getString("configuration"));
            assertTrue(events.getFirst().getDuration("readLatency").compareTo(Duration.ofMillis(2)) >= 0);
            assertEquals(Duration.ofNanos(1_100), events.getFirst().getDuration("readLatencyAsked"));
        } finally {
            SoftverbsFaults.delayOperations(0);
        }
    }
}
