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
                "SOFTVERBS=model=connectx5,seed=1 ./farheap -Dfarheap.verbs=soft -Xmx1g bench peers --directory 'a b'\\''s'",
                TypedCommand.of(
                        "model=connectx5,seed=1",
                        List.of("-Dfarheap.verbs=soft", "--enable-preview", "-Xmx1g"),
                        List.of("bench", "peers", "--directory", "a b's")));
    }

    @Test
    void filesThatTheRunWritesAreNoPartOfTheCommand() {
        assertEquals(
                "./farheap bench raw --op read --turns 5",
                TypedCommand.of(
                        null,
                        List.of(),
                        List.of(
                                "bench",
                                "raw",
                                "--json",
                                "/tmp/farheap-figure1/report.json",
                                "--op",
                                "read",
                                "--report=/tmp/farheap-figure1",
                                "--turns",
                                "5",
                                "--report",
                                "/tmp/farheap-figure1")));
    }

    @Test
    void optionsThatTheLauncherAddsAreNoPartOfTheCommand() {
        assertEquals(
                "./farheap -Xmx1g bench raw",
                TypedCommand.of(
                        null,
                        List.of(
                                "-Xmx1g",
                                "-XX:AOTCache=/home/a/farheap.aot",
                                "-Xlog:aot*=off",
                                "-Dfarheap.root=/home/a"),
                        List.of("bench", "raw")));
    }
}
