package io.farheap.measure;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SoftverbsModelTest {

    @TempDir
    private Path directory;

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            nullValues = "null",
            value = {
                "null | none",
                "'' | none",
                "seed=1 | none",
                "model=connectx5 | connectx5",
                "seed=1,model=distance3,misses=allow | distance3",
                "model=connectx5 jitter=20 | model=connectx5,jitter=20",
                "latency=500 | latency=500",
                "order=weak,seed=2 | order=weak"
            })
    void modelOfSettings(String settings, String model) {
        assertEquals(model, SoftverbsModel.of(settings));
    }

    @Test
    void modelOfAFile() throws IOException {
        Path file = directory.resolve("settings");
        Files.writeString(file, "# model=distance5\nmodel=connectx5\nmisses=allow\n");
        assertEquals("connectx5", SoftverbsModel.of("@" + file));
    }
}
