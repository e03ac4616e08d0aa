package io.farheap.bench.slo;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;

class OtherLoadTest {

    @Test
    void otherLoadIsWhatIsBusyAndNotOurs() {
        assertEquals(1.45, OtherLoad.busySeconds("cpu  100 20 3 4000 500 6 7 9 1000 1000"), 1e-9);
        double share = OtherLoad.since(List.of(ProcessHandle.current())).share();
        assertTrue(share >= 0 && share <= 1, () -> "" + share);
    }
}
