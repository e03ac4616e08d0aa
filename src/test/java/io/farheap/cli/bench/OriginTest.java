package io.farheap.cli.bench;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

import static org.junit.jupiter.api.Assertions.assertEquals;

/** What reports say about where their figures come from. */
class OriginTest {

    @TempDir
    private Path directory;

    @ParameterizedTest
    @CsvSource(delimiter = '|', nullValues = "null", value = {
        "null | none", "'' | none", "seed=1 | none", "model=connectx5 | connectx5", "seed=1,model=distance3,misses=allow | distance3",
        "model=connectx5 jitter=20 | model=connectx5,jitter=20", "latency=500 | latency=500", "order=weak,seed=2 | order=weak"})
    void modelOfSettings(String settings, String model) {
        assertEquals(model, SoftverbsModel.of(settings));
    }

    @Test
    void modelOfAFile() throws IOException {
        Path file = directory.resolve("settings");
        Files.writeString(file, "# model=distance5\nmodel=connectx5\nmisses=allow\n");
        assertEquals("connectx5", SoftverbsModel.of("@" + file));
    }

    @Test
    void commandAsTyped() {
        assertEquals("./farheap bench raw --size 8,4096",
            TypedCommand.of(null, List.of("--sun-misc-unsafe-memory-access=allow"), List.of("bench", "raw", "--size", "8,4096")));
        assertEquals("SOFTVERBS=model=connectx5,seed=1 ./farheap -Dfarheap.verbs=soft -Xmx1g bench peers --json 'a b'\\''s.json'",
            TypedCommand.of("model=connectx5,seed=1", List.of("-Dfarheap.verbs=soft", "--enable-preview", "-Xmx1g"),
                List.of("bench", "peers", "--json", "a b's.json")));
    }
}
