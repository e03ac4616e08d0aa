package io.farheap.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.farheap.control.ControlException;
import io.farheap.control.ControlException.Code;
import io.farheap.control.RegionGrant;
import io.farheap.control.plane.ControlPlane;
import io.farheap.server.contract.ServerOptions;
import io.farheap.testing.TestDevice;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Allocations whose answers the client did not receive, and releases that arrive twice. */
class AbandonTest {

    private static final int REGIONS = 4;
    private static final long REGION = 64 * 1024;

    private final ServerPlane server =
            ServerPlane.open(new ServerOptions(REGIONS * REGION, REGION, 60_000_000_000L, TestDevice.server(), "test"));
    private final long lease = server.openLease("test").id();

    @AfterEach
    void close() {
        server.close();
    }

    private int free() {
        return server.hello(ControlPlane.PROTOCOL_VERSION).freeRegions();
    }

    private static Code codeOf(Runnable call) {
        return assertThrows(ControlException.class, call::run).code();
    }

    @Test
    void whatAnAllocationWasGrantedGoesBackAndNothingElse() {
        server.allocate(lease, 2, 1);
        server.allocate(lease, 1, 2);
        server.abandon(lease, 1);
        assertEquals(REGIONS - 1, free());
        server.abandon(lease, 1);
        assertEquals(REGIONS - 1, free());
    }

    @Test
    void anAllocationThatArrivesAfterItWasAbandonedIsRefused() {
        server.abandon(lease, 5);
        assertEquals(Code.NOT_FOUND, codeOf(() -> server.allocate(lease, 1, 5)));
        assertEquals(REGIONS, free());
        assertEquals(1, server.allocate(lease, 1, 6).size());
    }

    @Test
    void aReleaseThatIsRepeatedDoesNotTakeWhatWasGrantedSince() {
        List<RegionGrant> all = server.allocate(lease, REGIONS, 1);
        int region = all.getFirst().regionId();
        server.release(lease, region, 1);
        assertEquals(region, server.allocate(lease, 1, 2).getFirst().regionId());
        assertEquals(Code.NOT_FOUND, codeOf(() -> server.release(lease, region, 1)));
        server.abandon(lease, 1);
        assertEquals(REGIONS - 1, free());
        server.release(lease, region, 2);
        assertEquals(REGIONS, free());
    }

    @Test
    void noAllocationIsNoneToAbandon() {
        server.allocate(lease, 1);
        assertEquals(Code.INVALID_ARGUMENT, codeOf(() -> server.abandon(lease, ControlPlane.ANY_ALLOCATION)));
        assertEquals(Code.LEASE_EXPIRED, codeOf(() -> server.abandon(lease + 1, 1)));
        assertEquals(REGIONS - 1, free());
    }
}
