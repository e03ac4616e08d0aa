package io.farheap.cache;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.cache.contract.SloReport;
import io.farheap.resilience.contract.Resilience;
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
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * Coded caches that are created with an objective. Their models are made up, so that they predict what a test needs.
 */
@Needs(Need.SOFTVERBS)
class CodedObjectiveTest {

    private static final Resilience CODE = Resilience.failureRecovery(2, 2);
    private static final String DEVICE = "soft0 (soft)";

    private final Cluster cluster = new Cluster(2, 2, 2, 2);

    @AfterEach
    void close() {
        cluster.close();
    }

    /** @return a model with more throughput, and more latency, for each client thread and each request under way */
    private static PerformanceModel model(String device, String resilience) {
        MeasurementPlan plan =
                new MeasurementPlan(new ModelSubject(device, "made up", 0, 64, 50, 2, 4).coded(resilience));
        while (!plan.complete()) {
            Configuration how = plan.next();
            double size = how.clientThreads() * how.batchSize() * how.queueDepth() * (1 + how.serverThreads());
            plan.record(new Performance(1_000 * size, 1e5 * size, 1_000 * size, 1e5 * size));
        }
        return plan.model();
    }

    private CacheBuilder builder(PerformanceModel... models) {
        return Cache.builder()
                .capacity(2 * Cluster.REGION_BYTES)
                .servers(cluster.addresses())
                .device(TestDevice.client())
                .margin(0)
                .model(models)
                .slo(reads(1e9, 2e5));
    }

    private static Slo reads(double nanos, double perSecond) {
        return new Slo(new Objective(nanos, perSecond), Objective.NONE);
    }

    private void assertNothingIsTaken() {
        for (int server = 0; server < 4; server++) {
            assertEquals(2, cluster.freeRegions(server));
        }
    }

    @Test
    void itIsChosenInAModelOfItsResilienceAndWatched() throws InterruptedException {
        BlockingQueue<SloReport> reports = new LinkedBlockingQueue<>();
        try (Cache cache = builder(model(DEVICE, CODE.toString()))
                        .slo(reads(1e9, 8e5))
                        .resilience(CODE)
                        .watch(Duration.ofMillis(5), reports::add)
                        .create();
                CacheSession session = cache.openSession();
                Buffer buffer = cache.allocate(4096)) {
            assertEquals(
                    new Configuration(2, 0, 1, 4),
                    cache.explanation().orElseThrow().chosen().configuration());
            assertEquals(4, cache.configuration().queueDepth());
            buffer.segment().set(JAVA_LONG, 0, 77);
            session.writeBlocking(64, buffer, 0, 8);
            session.readBlocking(64, buffer, 8, 8);
            assertEquals(77, buffer.segment().get(JAVA_LONG, 8));
            SloReport report = reports.poll(TestDevice.patience(60_000), TimeUnit.MILLISECONDS);
            assertTrue(report != null, "nothing is compared with the objective");
            assertTrue(cache.sloReport().isPresent());
            assertTrue(cache.latency().sums().writes() > 0, "requests are timed");
            assertThrows(UnsupportedOperationException.class, () -> cache.reshape(reads(1e9, 1e5)));
        }
        assertNothingIsTaken();
    }

    @Test
    void withoutAnObjectiveThereIsNoneToExplain() {
        try (Cache cache = Cache.builder()
                .capacity(2 * Cluster.REGION_BYTES)
                .servers(cluster.addresses())
                .device(TestDevice.client())
                .resilience(CODE)
                .create()) {
            assertEquals(Optional.empty(), cache.explanation());
            assertEquals(Optional.empty(), cache.sloReport());
            assertEquals(0, cache.sloMissed());
        }
    }

    private void assertRefused(String message, CacheBuilder builder) {
        assertEquals(
                message,
                assertThrows(IllegalArgumentException.class, () -> builder.create()
                                .close())
                        .getMessage());
        assertNothingIsTaken();
    }

    @Test
    void aModelOfAnyOtherResilienceIsRefused() {
        String wanted = "failure-recovery 2+2 Δ=1, pages of 4096 bytes";
        assertEquals(wanted, CODE.toString(), "model files have it");
        for (Resilience other : List.of(
                Resilience.ecOnly(2, 2),
                Resilience.corruptionDetection(2, 2),
                Resilience.failureRecovery(4, 2),
                Resilience.failureRecovery(2, 1),
                CODE.additional(2),
                CODE.pageBytes(8192))) {
            assertRefused(
                    "a performance model of caches with resilience " + other + " for a cache with resilience " + wanted
                            + "; measure one of this with 'farheap model --resilience K+R'",
                    builder(model(DEVICE, other.toString())).resilience(CODE));
        }
        assertRefused(
                "a performance model of caches without resilience for a cache with resilience " + wanted
                        + "; measure one of this with 'farheap model --resilience K+R'",
                builder(model(DEVICE, wanted), model(DEVICE, ModelSubject.PLAIN))
                        .resilience(CODE));
        assertRefused(
                "a performance model of caches with resilience " + wanted
                        + " for a cache without resilience; measure one of this with 'farheap model'",
                builder(model(DEVICE, wanted)));
    }

    @Test
    void anotherDeviceNoModelAndWhatCannotBeMetAreRefused() {
        String message = assertThrows(IllegalArgumentException.class, () -> builder(model("mlx5_0", CODE.toString()))
                        .resilience(CODE)
                        .create()
                        .close())
                .getMessage();
        assertTrue(message.startsWith("a performance model of device mlx5_0 for a cache on "), message);
        message = assertThrows(
                        IllegalArgumentException.class,
                        () -> builder().resilience(CODE).create().close())
                .getMessage();
        assertTrue(message.startsWith("an objective without a performance model"), message);
        assertThrows(InfeasibleSloException.class, () -> builder(model(DEVICE, CODE.toString()))
                .slo(reads(1, 1e5))
                .resilience(CODE)
                .create()
                .close());
        assertNothingIsTaken();
    }

    /** Settings that do not change the cost of requests while nothing fails do not belong to the model. */
    @Test
    void limitsAndTimeoutsFitAnyModelOfTheCode() {
        Resilience patient = CODE.timeout(Duration.ofSeconds(1)).strict(true).limits(0.5, 0.5);
        try (Cache cache =
                builder(model(DEVICE, CODE.toString())).resilience(patient).create()) {
            assertEquals(
                    new Configuration(1, 0, 1, 2),
                    cache.explanation().orElseThrow().chosen().configuration());
        }
    }
}
