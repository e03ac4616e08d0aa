package io.farheap.bench.figures;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** A git repository in a test's directory, with commits of files. */
final class MadeRepository {

    /** The user's own settings do not matter: a name, a signature or a hook. */
    private static final List<String> GIT = List.of(
            "git",
            "-c",
            "user.name=Test",
            "-c",
            "user.email=test@example.org",
            "-c",
            "commit.gpgsign=false",
            "-c",
            "core.hooksPath=/dev/null");

    private final Path root;

    MadeRepository(Path root) throws IOException, InterruptedException {
        this.root = root;
        git("init", "-q");
    }

    /** Skips the test on a machine without git. */
    static void requireGit() throws IOException, InterruptedException {
        assumeTrue(ShortCommand.output(Path.of("."), List.of("git", "--version")) != null, "git is not installed");
    }

    void write(String path, String text) throws IOException {
        Path file = root.resolve(path);
        Files.createDirectories(file.getParent());
        Files.writeString(file, text);
    }

    /** Commits all files as they are, and returns the hash. */
    String commit(String message) throws IOException, InterruptedException {
        git("add", "-A");
        git("commit", "-q", "--allow-empty", "-m", message);
        String hash = ShortCommand.output(root, List.of("git", "rev-parse", "HEAD"));
        assertTrue(hash != null && hash.length() == 40, () -> "HEAD is " + hash);
        return hash;
    }

    private void git(String... arguments) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(GIT);
        command.addAll(List.of(arguments));
        Process process = new ProcessBuilder(command)
                .directory(root.toFile())
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start();
        assertEquals(0, process.waitFor(), () -> String.join(" ", command));
    }
}
