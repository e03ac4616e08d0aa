package io.farheap.bench.report;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import org.junit.jupiter.api.Test;

/** The origin of a report's figures, as reports state it. */
class OriginTest {

    @Test
    void commandAsTyped() {
        assertEquals(
                "./farheap bench raw --size 8,4096",
                TypedCommand.of(
                        null,
                        List.of("--sun-misc-unsafe-memory-access=allow"),
                        List.of("bench", "raw", "--size", "8,4096")));
        assertEquals(
                "SOFTVERBS=model=connectx5,seed=1 ./farheap -Dfarheap.verbs=soft -Xmx1g bench peers --json 'a b'\\''s.json'",
                TypedCommand.of(
                        "model=connectx5,seed=1",
                        List.of("-Dfarheap.verbs=soft", "--enable-preview", "-Xmx1g"),
                        List.of("bench", "peers", "--json", "a b's.json")));
    }
}
