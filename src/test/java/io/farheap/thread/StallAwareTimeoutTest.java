package io.farheap.thread;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class StallAwareTimeoutTest {

    private long now = Long.MAX_VALUE - 5;
    private final StallAwareTimeout patience = new StallAwareTimeout(TimeUnit.SECONDS.toNanos(1), () -> now);

    @Test
    void endsAfterItsTime() {
        int looks = 0;
        while (!patience.over()) {
            now += TimeUnit.MILLISECONDS.toNanos(10);
            looks++;
        }
        assertEquals(100, looks);
        assertTrue(patience.over());
    }

    @Test
    void doesNotCountTheTimeForWhichItsThreadStoodStill() {
        now += TimeUnit.MINUTES.toNanos(10);
        assertFalse(patience.over());
        now += TimeUnit.MILLISECONDS.toNanos(10);
        assertFalse(patience.over());
    }
}
