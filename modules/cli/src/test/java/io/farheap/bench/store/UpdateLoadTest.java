package io.farheap.bench.store;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class UpdateLoadTest {

    /** Else its quiet time would be cold, and the checkpoint after it warm. */
    @Test
    void aRateDoesNotCountUntilTheLoadHasSettled() throws InterruptedException {
        List<String> order = new ArrayList<>();
        double rate = UpdateLoad.settled(
                () -> order.add("resume"),
                nanos -> {
                    order.add("rate " + nanos);
                    return order.size();
                },
                500);
        assertEquals(List.of("resume", "rate " + UpdateLoad.SETTLE_NANOS, "rate 500"), order);
        assertEquals(3, rate);
    }
}
