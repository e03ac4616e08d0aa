package io.farheap.tier;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.farheap.cache.contract.Status;
import io.farheap.tier.device.IoStatus;
import org.junit.jupiter.api.Test;

/** A tier that has lost a part is not asked for it again, so only content that is gone is reported as lost. */
class FarHandleTest {

    @Test
    void whatMayPassIsNotLost() {
        assertEquals(IoStatus.OK, FarHandle.outcome(Status.OK));
        assertEquals(IoStatus.LOST, FarHandle.outcome(Status.LOST));
        assertEquals(IoStatus.CLOSED, FarHandle.outcome(Status.CLOSED));
        assertEquals(IoStatus.CORRUPT, FarHandle.outcome(Status.CORRUPT));
        assertEquals(IoStatus.FAILED, FarHandle.outcome(Status.SEGMENT_GONE));
        assertEquals(IoStatus.FAILED, FarHandle.outcome(Status.UNREACHABLE));
    }
}
