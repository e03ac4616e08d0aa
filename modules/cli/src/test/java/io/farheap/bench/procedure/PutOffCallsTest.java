package io.farheap.bench.procedure;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.Map;
import org.junit.jupiter.api.Test;

/** The share of calls that a server has put off, by its counters. */
class PutOffCallsTest {

    @Test
    void theShareIsOfTheCallsSinceThen() {
        Map<String, Long> before = Map.of("procedures.calls.done", 100L, "procedures.put off", 90L);
        Map<String, Long> now = Map.of("procedures.calls.done", 300L, "procedures.put off", 140L);
        assertEquals(0.25, PutOffCalls.share(before, now));
        assertEquals(0, PutOffCalls.share(Map.of(), Map.of("procedures.calls.done", 5L)));
        assertEquals(Double.NaN, PutOffCalls.share(now, now));
    }
}
