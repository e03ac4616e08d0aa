package io.farheap.bench.kv;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

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
}
