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

/** A killed process cannot clean up, so it must not leave files that no other process removes. */
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
        // The servers that the demo starts get this variable, too.
        Map<String, String> environment = Map.of("JAVA_TOOL_OPTIONS", "-Djava.io.tmpdir=" + temporary);
        CommandProcess demo = CommandProcess.start(
                environment, "demo", "--file", file.toString(), "--region", "1m", "--seconds", "100");
        try {
            // By then the demo has drawn a bar and called the servers, so the native libraries that either needs have
            // been unpacked and removed.
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
