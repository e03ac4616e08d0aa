package io.farheap.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.command.ServerProcess;
import io.farheap.testing.TestDevice;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Commands read and print correctly in shells that differ from a developer's; each runs in a process of its own. */
class CommandOutputTest {

    private static final long PATIENCE_SECONDS = 60;

    @TempDir
    Path directory;

    /** @return the command's messages, and its output unless that goes to another file */
    private String run(int exitCode, List<String> shell, File output, List<String> flags, String... arguments)
            throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(shell);
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Dfarheap.verbs=soft"));
        command.addAll(flags);
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), "io.farheap.cli.Main"));
        command.addAll(List.of(arguments));
        Path errors = directory.resolve("errors");
        ProcessBuilder builder =
                new ProcessBuilder(command).redirectOutput(output).redirectError(errors.toFile());
        builder.environment().put("LC_ALL", "C");
        Process process = builder.start();
        try {
            assertTrue(process.waitFor(TestDevice.patience(PATIENCE_SECONDS), TimeUnit.SECONDS), "it does not end");
        } finally {
            process.destroyForcibly();
        }
        String said = Files.readString(errors)
                + (output.isFile() ? Files.readString(output.toPath(), StandardCharsets.UTF_8) : "");
        assertEquals(exitCode, process.exitValue(), said);
        return said;
    }

    @Test
    void textIsUtf8InAnyLocale() throws Exception {
        // The shell passes bytes on, which this JVM could not in another locale.
        List<String> shell = List.of("sh", "-c", "exec \"$@\" \"$(printf 'caf\\303\\251')\"", "sh");
        String said = run(2, shell, directory.resolve("output").toFile(), List.of());
        assertTrue(said.contains("'caf\u00e9'"), said);
    }

    /** Java would put question marks into its name, and the state into a directory of that name. */
    @Test
    void aWorkingDirectoryThatTheLocaleDoesNotHaveIsRefused() throws Exception {
        Path below = Files.createDirectory(directory.resolve("below"));
        String enter = "mkdir " + below + "/caf\"$(printf '\\303\\251')\" && cd " + below + "/caf* && exec \"$@\"";
        File output = directory.resolve("output").toFile();
        String said = run(2, List.of("sh", "-c", enter, "sh"), output, List.of(), "manager", "--data", "state");
        assertTrue(said.contains("'--data'"), said);
        assertTrue(said.contains("the working directory " + below), said);
        try (Stream<Path> files = Files.list(below)) {
            assertEquals(1, files.count());
        }
    }

    @Test
    void numbersAreAsScriptsReadThem() throws Exception {
        List<String> egypt = List.of("-Duser.language=ar", "-Duser.country=EG");
        File output = directory.resolve("output").toFile();
        Path file = directory.resolve("Chase.class");
        try (InputStream code = ClassLoader.getSystemResourceAsStream("io/farheap/procedure/builtin/Chase.class")) {
            Files.write(file, Objects.requireNonNull(code).readAllBytes());
        }
        String said = run(0, List.of(), output, egypt, "procedure", "check", file.toString());
        assertTrue(Pattern.compile("\nresume points  [0-9]+\n").matcher(said).find(), said);
    }

    /** As on a full disk: its ZooKeeper first allocates a file of 64 MiB. The manager waits for half a minute. */
    @Test
    @Tag("full")
    void aManagerSaysThatItHasNoRoomForItsState() throws Exception {
        List<String> shell = List.of("sh", "-c", "ulimit -f 2000 && exec \"$@\"", "sh");
        String data = directory.resolve("data").toString();
        File output = directory.resolve("output").toFile();
        String said = run(1, shell, output, List.of(), "manager", "--data", data, "--listen", "127.0.0.1:0");
        assertTrue(
                said.contains("farheap: the manager ends: its ZooKeeper has failed, such as for want of disk, of "
                        + "which "),
                said);
        assertTrue(said.contains(" MiB are free at " + data + "; make room"), said);
    }

    /** Otherwise this command would run for ever, and others would end as if they had succeeded. */
    @Test
    void whatCannotBePrintedEndsWithAFailure() throws Exception {
        try (ServerProcess server = TestServer.start(1 << 20, 1 << 20)) {
            String said = run(1, List.of(), new File("/dev/full"), List.of(), "top", "--json", server.address());
            assertTrue(
                    said.endsWith(
                            "farheap: standard output could not be written, so some of it is missing: No space left "
                                    + "on device\n"),
                    said);
        }
    }
}
