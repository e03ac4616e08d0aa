package io.farheap.bench.kv.leases;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class LeaseWorkloadTest {

    private static LeaseWorkload workload(long keys, long room) {
        return new LeaseWorkload(keys, LeaseWorkload.USUAL_SKEW, 95, 1000, room, 2, 1);
    }

    /** Another share of gets changes neither the memory nor the number of requests. */
    @Test
    void allSharesOfGetsHaveEqualMemoryAndRequests() {
        LeaseWorkload usual = workload(10_000, 2_500);
        LeaseWorkload other = usual.gets(100);
        assertEquals(usual.bytes(), other.bytes());
        assertEquals(50_000, usual.requests());
        assertEquals(50_000, other.requests());
        assertFalse(usual.isFilled());
        assertEquals(10_000, usual.objects());
    }

    @Test
    void aMapWithRoomForAllKeysIsFilled() {
        LeaseWorkload filled = workload(10_000, 20_000);
        assertTrue(filled.isFilled());
        assertEquals(30_000, filled.requests());
        assertEquals(20_000, filled.objects());
    }

    @Test
    void theMemoryIsAPowerOfTwoThatIsEnough() {
        assertEquals(4 << 20, workload(10_000, 2_500).bytes());
        assertEquals(1 << 20, workload(100, 25).bytes());
    }
}
