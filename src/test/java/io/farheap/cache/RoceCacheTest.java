package io.farheap.cache;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.farheap.resilience.contract.Resilience;
import io.farheap.testing.ConnectedGids;
import io.farheap.testing.Need;
import io.farheap.testing.Needs;
import io.farheap.testing.SoftRoce;
import io.farheap.testing.TestDevice;
import io.farheap.verbs.PortOptions;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** On Ethernet, a cache's connections leave its port as its builder says, and servers follow. */
@Needs(Need.SOFTVERBS)
@ExtendWith(SoftRoce.class)
class RoceCacheTest {

    private static final long REGION = Cluster.REGION_BYTES;

    private final ConnectedGids connected = new ConnectedGids();

    /** The builder's port, which uses softverbs's unique local address. */
    private static PortOptions port() {
        return PortOptions.of(TestDevice.client())
                .gid(SoftRoce.UNIQUE_LOCAL)
                .trafficClass(106)
                .retries(3);
    }

    private static void assertHasPort(Cache cache) {
        PortOptions options = cache.context().options();
        assertEquals(port().gid(), options.gid());
        assertEquals(106, options.trafficClass());
        assertEquals(3, options.retries());
    }

    private static void exchange(CacheSession session, Buffer buffer, long value) {
        buffer.segment().set(JAVA_LONG, 0, value);
        session.writeBlocking(0, buffer, 0, 8);
        session.readBlocking(0, buffer, 8, 8);
        assertEquals(value, buffer.segment().get(JAVA_LONG, 8));
    }

    @Test
    void aCacheUsesItsBuildersPort() {
        try (Cluster cluster = new Cluster().behind(connected::noting)) {
            String first = cluster.add(4);
            String second = cluster.add(4);
            try (Cache cache = Cache.builder()
                            .capacity(2 * REGION)
                            .servers(first, second)
                            .device(port())
                            .create();
                    CacheSession session = cache.openSession();
                    Buffer buffer = cache.allocate(64)) {
                assertHasPort(cache);
                exchange(session, buffer, 5);
                cache.migrate(0, cache.serverOf(0).equals(first) ? second : first);
                exchange(session, buffer, 6);
            }
        }
        assertEquals(Set.of("fd00"), connected.of("connect"));
        assertEquals(Set.of("fd00"), connected.of("preparePull"), "the client's pace");
        assertEquals(Set.of("0000"), connected.of("openPull"), "between servers, which may use any address");
    }

    @Test
    void aCodedCacheUsesItsBuildersPort() {
        try (Cluster cluster = new Cluster().behind(connected::noting)) {
            for (int server = 0; server < 3; server++) {
                cluster.add(4);
            }
            try (Cache cache = Cache.builder()
                            .capacity(2 * REGION)
                            .servers(cluster.addresses())
                            .device(port())
                            .resilience(Resilience.failureRecovery(2, 1))
                            .create();
                    CacheSession session = cache.openSession();
                    Buffer buffer = cache.allocate(64)) {
                assertHasPort(cache);
                exchange(session, buffer, 7);
            }
        }
        assertEquals(Set.of("fd00"), connected.of("connect"));
    }
}
