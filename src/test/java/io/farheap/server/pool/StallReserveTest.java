package io.farheap.server.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

/** A server with 32 regions of 100 bytes: a step is two of them. */
class StallReserveTest {

    private static final long WINDOW = StallReserve.WINDOW_NANOS;

    private final StallReserve reserve = new StallReserve(100, 32);

    @Test
    void oneStepMoreThanIsFreeIsKeptInEachWindowWithStalls() {
        assertEquals(0, reserve.look(10, 1_000, 0));
        assertEquals(1_200, reserve.look(10.1, 1_000, 1));
        assertEquals(1_200, reserve.look(90, 1_100, WINDOW), "the average still has what was before");
        assertEquals(1_400, reserve.look(90, 1_200, WINDOW + 1));
    }

    @Test
    void stallsAloneTakeAQuarterAtMost() {
        long now = 0;
        for (long free = 0; free < 800; free += 200) {
            assertEquals(free + 200, reserve.look(50, free, now));
            now += WINDOW;
        }
        assertEquals(800, reserve.look(50, 800, now));
        assertEquals(800, reserve.look(50, 800, now + 9 * WINDOW));
    }

    @Test
    void halfOfItIsGivenUpInEachWindowWithoutStalls() {
        assertEquals(600, reserve.look(50, 400, 0));
        assertEquals(600, reserve.look(0, 600, WINDOW - 1));
        assertEquals(300, reserve.look(0, 600, WINDOW));
        assertEquals(150, reserve.look(0, 300, 2 * WINDOW));
        assertEquals(0, reserve.look(0, 150, 3 * WINDOW));
        assertEquals(200, reserve.look(11, -50, 3 * WINDOW + 1), "where the headroom is missing, it is beyond that");
    }
}
