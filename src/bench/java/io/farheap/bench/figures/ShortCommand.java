package io.farheap.bench.figures;

import io.farheap.bench.child.TetheredProcess;
import io.farheap.time.TimeLimit;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** A program that prints a fact about the machine or the checkout, such as git. It ends with this process. */
final class ShortCommand {

    private static final Duration LIMIT = TimeLimit.of(Duration.ofSeconds(60));

    private ShortCommand() {}

    /**
     * Runs the program.
     *
     * @param directory in which it runs
     * @return its standard output without blanks around it; null if the program is not installed, fails or takes more
     *     than a minute
     */
    static @Nullable String output(Path directory, List<String> command) throws IOException, InterruptedException {
        Path printed = Files.createTempFile("farheap-figures", ".txt");
        try {
            Process process = new ProcessBuilder(TetheredProcess.command(command))
                    .directory(directory.toAbsolutePath().toFile())
                    .redirectOutput(printed.toFile())
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
            boolean ended;
            try {
                ended = process.waitFor(LIMIT.toMillis(), TimeUnit.MILLISECONDS);
            } finally {
                TetheredProcess.end(process);
            }
            return ended && process.exitValue() == 0
                    ? new String(Files.readAllBytes(printed), StandardCharsets.UTF_8).strip()
                    : null;
        } finally {
            Files.deleteIfExists(printed);
        }
    }
}
