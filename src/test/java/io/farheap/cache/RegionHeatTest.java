package io.farheap.cache;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.cache.contract.CacheConfiguration;
import io.farheap.cache.order.RegionHeat;
import io.farheap.testing.TestDevice;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The order of regions by their use, according to samples. */
class RegionHeatTest {

    private static final int REGIONS = 6;
    private static final int RECORD = 64;
    private static final int LOOKS = 9;
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
                CacheSession session = cache.openSession();
                Buffer buffer = cache.allocate(RECORD)) {
            AtomicBoolean stop = new AtomicBoolean();
            AtomicLong done = new AtomicLong();
            Thread load = Thread.ofPlatform().start(() -> {
                SplittableRandom random = new SplittableRandom(1);
                for (long token = 0; !stop.get(); token++) {
                    // Of 50 requests, 49 go to region 4, so the few in a table at one moment show it, too.
                    int region = random.nextInt(50) > 0 ? 4 : random.nextInt(REGIONS);
                    long record = random.nextLong(Cluster.REGION_BYTES / RECORD);
                    while (!session.read(
                            region * Cluster.REGION_BYTES + record * RECORD, buffer, 0, RECORD, (_, _) -> {}, token)) {
                        session.poll();
                    }
                    session.poll();
                    done.setRelease(token);
                }
                session.drain();
            });
            try {
                // If the load stood still, samples would have only its requests in flight, so it continues in between.
                List<List<Integer>> orders = new ArrayList<>();
                for (int i = 1; i <= LOOKS; i++) {
                    while (load.isAlive() && done.getAcquire() < i * 1000) {
                        Thread.onSpinWait();
                    }
                    orders.add(RegionHeat.hottestFirst(
                            ALL, ((RegionCache) cache).table(), session.core().pending::sample));
                }
                long right =
                        orders.stream().filter(order -> order.getFirst() == 4).count();
                assertTrue(right > LOOKS / 2, () -> "the orders: " + orders);
                orders.forEach(
                        order -> assertEquals(ALL, order.stream().sorted().toList()));
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
                CacheSession session = cache.openSession()) {
            assertEquals(
                    ALL, RegionHeat.hottestFirst(ALL, ((RegionCache) cache).table(), session.core().pending::sample));
        }
    }
}
