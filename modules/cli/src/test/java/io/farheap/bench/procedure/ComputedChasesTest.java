package io.farheap.bench.procedure;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.farheap.verbs.soft.SoftverbsCounters;
import org.junit.jupiter.api.Test;

/** The time that a chase would take if every operation met the model's deadline. */
class ComputedChasesTest {

    /** The figures of the ConnectX-5 model: 80 ps a byte at 100 Gbit/s. */
    private static final SoftverbsCounters MODEL = new SoftverbsCounters(0, 0, 1450, 5, 550, 80);

    @Test
    void aCallIsTwoInlineMessages() {
        // 88 bytes there and 56 back: 7 and 4 ns on the link.
        assertEquals(2 * (1450 + 5) + 7 + 4, ComputedChases.callNanos(MODEL));
    }

    @Test
    void aReadIsOneMessageThereAndBack() {
        assertEquals(5 + 2 * 1450, MODEL.readNanos(8));
        assertEquals(5 + 2 * 1450 + 80, MODEL.readNanos(1000));
    }

    @Test
    void aPayloadThatIsNotInlineIsFetched() {
        assertEquals(550 + 5 + 1450 + 16, MODEL.writeNanos(200, false));
    }
}
