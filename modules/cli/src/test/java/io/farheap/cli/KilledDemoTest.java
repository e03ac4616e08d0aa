package io.farheap.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A process that is killed cannot clean up: it must have put nothing where nobody else will. */
@Tag("full")
class KilledDemoTest {

    private static final int BYTES = 4_000_000;

    @TempDir
    private Path directory;

    @Test
    void theTemporaryDirectoryIsUnchanged() throws Exception {
        Path temporary = Files.createDirectory(directory.resolve("tmp"));
        Path file = directory.resolve("file");
        Files.write(file, new byte[BYTES]);
        // The servers that it starts see it too.
        Map<String, String> environment = Map.of("JAVA_TOOL_OPTIONS", "-Djava.io.tmpdir=" + temporary);
        CommandProcess demo = CommandProcess.start(
                environment, "demo", "--file", file.toString(), "--region", "1m", "--seconds", "100");
        try {
            // It has drawn a bar and called the servers then: what either needs of native libraries is unpacked and
            // removed.
            demo.awaitLine("filled from");
        } finally {
            demo.kill();
        }
        demo.assertNothingIsLeft();
        assertEquals(List.of(), entries(temporary));
    }

    private static List<Path> entries(Path place) throws IOException {
        try (Stream<Path> files = Files.list(place)) {
            return files.toList();
        }
    }
}
