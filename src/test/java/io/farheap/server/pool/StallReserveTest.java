package io.farheap.server.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

/** A server with 32 regions of 100 bytes: a step is two of them. */
class StallReserveTest {

    private static final long WINDOW = StallReserve.WINDOW_NANOS;

    private final StallReserve reserve = new StallReserve(100, 32);

    @Test
    void oneStepMoreThanWasGivenIsGivenInEachWindowWithStalls() {
        assertEquals(0, reserve.look(10, 0, 0));
        assertEquals(200, reserve.look(10.1, 0, 1));
        assertEquals(200, reserve.look(90, 100, WINDOW), "the average still has what was before");
        assertEquals(400, reserve.look(90, 100, WINDOW + 1), "the second is on its way");
        assertEquals(700, reserve.look(90, 500, 2 * WINDOW + 1), "the headroom took one of its own");
    }

    @Test
    void stallsAloneTakeAQuarterAtMost() {
        long now = 0;
        for (long given = 0; given < 800; given += 200) {
            assertEquals(given + 200, reserve.look(50, given, now));
            now += WINDOW;
        }
        assertEquals(800, reserve.look(50, 800, now));
        assertEquals(800, reserve.look(50, 3_000, now + 9 * WINDOW), "the headroom has taken the others");
        assertEquals(800, reserve.look(0, 800, now + 9 * WINDOW + 1), "tasks have just waited");
        assertEquals(0, new StallReserve(100, 3).look(50, 0, 0), "none of three is at most a quarter");
    }

    @Test
    void halfOfItIsGivenUpInEachWindowWithoutStalls() {
        assertEquals(600, reserve.look(50, 400, 0));
        assertEquals(600, reserve.look(0, 600, WINDOW - 1));
        assertEquals(300, reserve.look(0, 600, WINDOW));
        assertEquals(150, reserve.look(0, 300, 2 * WINDOW));
        assertEquals(0, reserve.look(0, 200, 3 * WINDOW));
        assertEquals(200, reserve.look(11, 0, 3 * WINDOW + 1));
    }
}
