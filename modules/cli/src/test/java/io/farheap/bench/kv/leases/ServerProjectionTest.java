package io.farheap.bench.kv.leases;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class ServerProjectionTest {

    private static final double IDLE = 1e8;

    @Test
    void whatIdleServersTakeIsNoWork() {
        ServerProjection projection = ServerProjection.of(10_000, IDLE, 50_000);
        assertEquals(8_000, projection.busyNanos(), 1e-6);
        assertEquals(125_000, projection.coreRate(), 1e-6);
        assertEquals(0, ServerProjection.of(1_000, IDLE, 50_000).busyNanos());
    }

    /** The client waits twice as long for each request, and the servers do the same work. */
    @Test
    void aClientThatWaitsLongerChangesNothing() {
        ServerProjection soon = ServerProjection.of(10_000, IDLE, 50_000);
        ServerProjection late = ServerProjection.of(12_000, IDLE, 25_000);
        assertEquals(soon.coreRate(), late.coreRate(), 1e-6);
        assertEquals(soon.coresForClient(50_000, 20_000), late.coresForClient(25_000, 20_000), 1e-9);
    }

    @Test
    void coresKeepUpWithTheOtherEnginesRate() {
        ServerProjection projection = new ServerProjection(8_000);
        assertEquals(0.16, projection.coresForClient(40_000, 20_000), 1e-9);
        assertEquals(0.16, projection.coresForClient(20_000, 20_000), 1e-9);
    }

    @Test
    void noNumberOfCoresHelpsASlowClient() {
        assertEquals(Double.NaN, new ServerProjection(8_000).coresForClient(19_000, 20_000));
    }

    @Test
    void serversWithoutWorkHaveNoProjection() {
        assertEquals(Double.NaN, new ServerProjection(0).coreRate());
        assertEquals(Double.NaN, new ServerProjection(0).coresForClient(40_000, 20_000));
    }
}
