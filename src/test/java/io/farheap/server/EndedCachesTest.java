package io.farheap.server;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.farheap.control.CacheGrant;
import io.farheap.control.ManagerKey;
import io.farheap.control.SignedGrant;
import io.farheap.control.plane.ControlPlane;
import io.farheap.server.contract.ServerOptions;
import io.farheap.testing.TestDevice;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** A server reports a cache that its manager has ended only when all regions of the cache are free. */
class EndedCachesTest {

    private static final long REGION = 64 << 10;
    private static final int REGIONS = 4;
    private static final long CACHE = 7;
    private static final long MANAGER_MILLIS = 1_000_000;

    private static SignedGrant grant(long server, KeyPair keys) {
        int rights = CacheGrant.READ | CacheGrant.WRITE;
        return SignedGrant.sign(
                new CacheGrant(CACHE, server, REGIONS, rights, MANAGER_MILLIS + 60_000, 1, 1), keys.getPrivate());
    }

    /** The server forgets a lease that its client closes before the call has zeroed the lease's regions. */
    @Test
    void aCacheThatItsClientClosesHasNotEndedBeforeItsRegionsAreFree() throws Exception {
        KeyPair keys = KeyPairGenerator.getInstance(SignedGrant.ALGORITHM).generateKeyPair();
        try (ServerPlane server = ServerPlane.open(
                new ServerOptions(REGION * REGIONS, REGION, 300_000_000_000L, TestDevice.server(), "ended"))) {
            server.requireGrants().accept(ManagerKey.of(1, keys.getPublic().getEncoded(), MANAGER_MILLIS));
            long id = server.hello(ControlPlane.PROTOCOL_VERSION).serverId();
            long lease = server.openLease("client", CACHE, grant(id, keys)).id();
            server.allocate(lease, REGIONS);
            List<Set<Long>> told = new ArrayList<>();
            server.leases().alsoTell(forgotten -> {
                server.endCaches(Set.of(CACHE));
                told.add(server.endedCaches());
            });

            server.closeLease(lease);

            assertEquals(List.of(Set.of()), told);
            assertEquals(REGIONS, server.hello(ControlPlane.PROTOCOL_VERSION).freeRegions());
            assertEquals(Set.of(CACHE), server.endedCaches());
        }
    }
}
