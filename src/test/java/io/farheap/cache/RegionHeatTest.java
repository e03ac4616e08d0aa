package io.farheap.cache;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.farheap.testing.TestDevice;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Which regions are used most, as samples have it. */
class RegionHeatTest {

    private static final int REGIONS = 6;
    private static final int RECORD = 64;
    private static final List<Integer> ALL = IntStream.range(0, REGIONS).boxed().toList();

    private static Cache create(Cluster cluster, CacheConfiguration how) {
        return Cache.builder()
                .capacity(REGIONS * Cluster.REGION_BYTES)
                .servers(cluster.addresses())
                .device(TestDevice.client())
                .configuration(how)
                .create();
    }

    @ParameterizedTest
    @MethodSource("io.farheap.cache.Configurations#all")
    void theRegionThatIsUsedMostComesFirst(CacheConfiguration how) throws Exception {
        try (Cluster cluster = new Cluster(REGIONS);
                Cache cache = create(cluster, how);
                Session session = cache.openSession();
                Buffer buffer = cache.allocate(RECORD)) {
            AtomicBoolean stop = new AtomicBoolean();
            CountDownLatch begun = new CountDownLatch(1);
            Thread load = Thread.ofPlatform().start(() -> {
                SplittableRandom random = new SplittableRandom(1);
                for (long token = 0; !stop.get(); token++) {
                    // Of 50, 49 to region 4: also the few in a table at one moment say so.
                    int region = random.nextInt(50) > 0 ? 4 : random.nextInt(REGIONS);
                    long record = random.nextLong(Cluster.REGION_BYTES / RECORD);
                    while (!session.read(
                            region * Cluster.REGION_BYTES + record * RECORD, buffer, 0, RECORD, (_, _) -> {}, token)) {
                        session.poll();
                    }
                    session.poll();
                    if (token == 1000) {
                        begun.countDown();
                    }
                }
                session.drain();
            });
            begun.await();
            try {
                List<Integer> order =
                        RegionHeat.hottestFirst(ALL, ((RegionCache) cache).table(), session.core()::sample);
                assertEquals(4, order.getFirst(), () -> "the order: " + order);
                assertEquals(ALL, order.stream().sorted().toList());
            } finally {
                stop.set(true);
                load.join();
            }
        }
    }

    @Test
    void withoutRequestsTheOrderStays() {
        try (Cluster cluster = new Cluster(REGIONS);
                Cache cache = create(cluster, Configurations.DIRECT);
                Session session = cache.openSession()) {
            assertEquals(ALL, RegionHeat.hottestFirst(ALL, ((RegionCache) cache).table(), session.core()::sample));
        }
    }
}
