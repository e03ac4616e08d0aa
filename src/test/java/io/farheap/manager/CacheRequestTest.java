package io.farheap.manager;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class CacheRequestTest {

    @Test
    void theLongestLifetimeIsForEver() {
        assertEquals(0, CacheRequest.millis(null));
        assertEquals(0, CacheRequest.millis(Duration.ofSeconds(Long.MAX_VALUE)));
        assertEquals(1, CacheRequest.millis(Duration.ofNanos(1_999_999)));
        assertEquals(Long.MAX_VALUE - 1, CacheRequest.millis(Duration.ofMillis(Long.MAX_VALUE - 1)));
    }

    /** As a number of ms it would be 0, which means for ever. */
    @Test
    void lessThanAMillisecondIsRefused() {
        for (Duration little : new Duration[] {Duration.ofNanos(999_999), Duration.ZERO, Duration.ofSeconds(-1)}) {
            assertThrows(IllegalArgumentException.class, () -> CacheRequest.millis(little));
        }
    }
}
