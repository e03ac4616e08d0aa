package io.farheap.bench.kv;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** A figure's command has a limit of time, which repeated plays must not exceed. */
class PlayLimitTest {

    @Test
    void aPlayBeginsOnlyIfItIsExpectedToEndInTime() {
        PlayLimit limit = new PlayLimit(3, 900);
        assertTrue(limit.again(400, 500));
        assertFalse(limit.again(401, 500));
        assertFalse(new PlayLimit(3, 0).again(1, 1));
    }

    /** The numbers are how long each takes: 100 s in all, then 10 and 30 twice; there is no time for 60 again. */
    @Test
    void thoseForWhichThereIsTimeArePlayedAgainTheShortestFirst() throws IOException {
        assertEquals(List.of(30, 60, 10, 10, 30, 10, 30), played(new PlayLimit(3, 180)));
        assertEquals(List.of(30, 60, 10, 10, 30), played(new PlayLimit(2, 180)));
        assertEquals(List.of(30, 60, 10, 10, 30, 60), played(new PlayLimit(2, 200)));
        assertEquals(List.of(30, 60, 10), played(new PlayLimit(3, 0)));
        assertEquals(List.of(30, 60, 10), played(new PlayLimit(1, 1000)));
    }

    private static List<Integer> played(PlayLimit limit) throws IOException {
        List<Integer> played = new ArrayList<>();
        AtomicLong now = new AtomicLong(-50);
        limit.playAll(
                List.of(30, 60, 10),
                nanos -> {
                    played.add(nanos);
                    now.addAndGet(nanos);
                },
                now::get);
        return played;
    }
}
