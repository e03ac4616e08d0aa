package io.farheap.cache;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.cache.contract.CacheException;
import io.farheap.resilience.contract.Resilience;
import io.farheap.testing.ControlCable;
import io.farheap.testing.TestDevice;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * A cache uses a server process once, whatever the process's addresses: otherwise it could move from the process to the
 * same process, and lose its content.
 */
class ServersOnceTest {

    private static final long REGION = Cluster.REGION_BYTES;

    private final Cluster cluster = new Cluster();

    @AfterEach
    void close() {
        cluster.close();
    }

    private static void refused(CacheBuilder builder, String address) {
        refused(() -> builder.create().close(), address);
    }

    private static void refused(Runnable addition, String address) {
        String why = assertThrows(CacheException.class, addition::run).getMessage();
        assertTrue(why.contains(address + " already"), why);
    }

    private int leases(int server) {
        return cluster.status(server).leases().size();
    }

    @Test
    void inABuilder() throws Exception {
        String first = cluster.add(4);
        String second = cluster.add(4);
        try (ControlCable cable = new ControlCable(first)) {
            for (String again : List.of(first, cable.address())) {
                refused(Cache.builder().capacity(6 * REGION).servers(first, second, again), again);
                refused(
                        Cache.builder()
                                .capacity(4096)
                                .servers(first, second, again)
                                .resilience(Resilience.failureRecovery(2, 1)),
                        again);
                assertEquals(List.of(4, 4), List.of(cluster.freeRegions(0), cluster.freeRegions(1)));
                assertEquals(List.of(0, 0), List.of(leases(0), leases(1)), "no lease is left");
            }
        }
    }

    @Test
    void inACacheThatIsThere() throws Exception {
        String first = cluster.add(4);
        try (ControlCable cable = new ControlCable(first);
                Cache cache =
                        Cache.builder().capacity(2 * REGION).servers(first).create();
                CacheSession session = cache.openSession();
                Buffer buffer = cache.allocate(64)) {
            buffer.segment().set(JAVA_LONG, 0, 5);
            session.writeBlocking(REGION, buffer, 0, 8);
            refused(() -> cache.addServer(first), first);
            refused(() -> cache.addServer(cable.address()), cable.address());
            assertEquals(List.of(first), cache.servers());
            assertEquals(1, leases(0));
            assertThrows(CacheException.class, () -> cache.retire(first, moved -> {}), "there is no other");
            session.readBlocking(REGION, buffer, 8, 8);
            assertEquals(5, buffer.segment().get(JAVA_LONG, 8));

            String second = cluster.add(4);
            cache.addServer(second);
            cache.retire(first, moved -> {});
            // The cache does not use the first server any more.
            cache.addServer(cable.address());
            assertEquals(List.of(second, cable.address()), cache.servers());
        }
    }

    @Test
    void inACodedCacheThatIsThere() throws Exception {
        String first = cluster.add(4);
        String second = cluster.add(4);
        try (ControlCable cable = new ControlCable(first);
                Cache cache = Cache.builder()
                        .capacity(4096)
                        .servers(first, second)
                        .resilience(Resilience.copies(2))
                        .create()) {
            refused(() -> cache.addServer(first), first);
            refused(() -> cache.addServer(cable.address()), cable.address());
            assertEquals(List.of(first, second), cache.servers());
            assertEquals(1, leases(0));
        }
    }

    /** The process continues, and the content under the lease is lost: the cache can use the server like any other. */
    @Test
    void oneWhoseLeaseIsLostCanBeUsedAnew() throws Exception {
        String first = cluster.add(4);
        String second = cluster.add(4, TestDevice.shortLease(1_000_000_000L));
        CountDownLatch lost = new CountDownLatch(1);
        try (ControlCable cable = new ControlCable(second);
                Cache cache = Cache.builder()
                        .capacity(REGION)
                        .servers(first, cable.address())
                        .onLost((address, why, regions) -> lost.countDown())
                        .create();
                CacheSession session = cache.openSession();
                Buffer buffer = cache.allocate(64)) {
            cable.cut();
            assertTrue(lost.await(TestDevice.patience(60), TimeUnit.SECONDS), "the lease is lost");
            cable.mend();
            cache.addServer(second);
            cache.migrate(0, second);
            session.writeBlocking(0, buffer, 0, 8);
            assertEquals(second, cache.serverOf(0));
        }
    }
}
