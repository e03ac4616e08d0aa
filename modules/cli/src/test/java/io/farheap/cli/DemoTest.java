package io.farheap.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.testing.Effort;
import io.farheap.testing.TestDevice;
import io.farheap.time.TimeLimit;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The demo as a user runs it, in processes of its own. */
class DemoTest {

    /** Distinguishes this test's processes from others. */
    private final String marker = "farheap-test-" + UUID.randomUUID();

    private List<String> filesBefore;

    @TempDir
    private Path directory;

    private Path file;

    @BeforeEach
    void createFile() throws IOException {
        filesBefore = ProcessResources.sharedMemoryFiles();
        byte[] bytes = new byte[5_000_001];
        new SplittableRandom(5).nextBytes(bytes);
        file = directory.resolve("file");
        Files.write(file, bytes);
    }

    @AfterEach
    void nothingIsLeft() throws InterruptedException {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(TestDevice.patience(20));
        while (!ours().isEmpty() && System.nanoTime() - deadline < 0) {
            Thread.sleep(50);
        }
        assertEquals(List.of(), ours());
        assertEquals(filesBefore, ProcessResources.sharedMemoryFiles());
    }

    @Test
    void everyByteIsRight() throws Exception {
        Path json = directory.resolve("demo.json");
        Path hlog = directory.resolve("demo.hlog");
        Process demo =
                demo("--seconds", Effort.isFull() ? "2" : "1", "--json", json.toString(), "--hlog", hlog.toString());
        String output = new String(demo.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals(0, demo.waitFor(), output);
        String figures = Files.readString(json);
        for (String field : List.of(
                "device",
                "bytes_loaded",
                "bytes_verified",
                "mismatches",
                "regions_migrated",
                "migrated_bytes",
                "migration_gib_per_s",
                "reads_during_migration",
                "longest_read_stall_us",
                "read_p50_ns",
                "read_p99_ns",
                "write_p50_ns",
                "write_p99_ns",
                "ops_per_s")) {
            assertTrue(figures.contains('"' + field + "\": "), field + " in " + figures);
        }
        assertTrue(
                figures.contains("\"bytes_loaded\": 5000001, \"bytes_verified\": 5000001, \"mismatches\": 0"), figures);
        assertTrue(figures.contains("\"regions_migrated\": 3"), figures);
        assertTrue(output.contains("every byte is right"), output);
        assertTrue(
                Files.readAllLines(hlog).stream().anyMatch(line -> line.startsWith("Tag=read,")),
                "an interval of reads in the log");
    }

    @Test
    @Tag("full")
    void interruptedHalfWayItLeavesNothing() throws Exception {
        Process demo = demo("--seconds", "60");
        awaitLoad(demo);
        assertEquals(3, servers().size());
        demo.toHandle().destroy();
        assertTrue(demo.waitFor(TestDevice.patience(20), TimeUnit.SECONDS));
    }

    @Test
    @Tag("full")
    void killedHalfWayItLeavesNothing() throws Exception {
        Process demo = demo("--seconds", "60");
        awaitLoad(demo);
        assertEquals(3, servers().size());
        demo.destroyForcibly();
        assertTrue(demo.waitFor(TestDevice.patience(20), TimeUnit.SECONDS));
    }

    @Test
    @Tag("full")
    void badInputIsOneSentence() throws Exception {
        assertRefused("--servers 1: the demo needs at least 2", "--servers", "1");
        assertRefused("--region 0 bytes: it must be a power of two, at least 64 KiB", "--region", "0");
        String nowhere = directory.resolve("absent/file").toString();
        assertRefused("--json " + nowhere + ": cannot write to directory ", "--json", nowhere);
        assertRefused("--hlog " + directory + ": it is a directory", "--hlog", directory.toString());
    }

    private void assertRefused(String why, String... options) throws Exception {
        Process demo = demo(options);
        String output = new String(demo.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals(1, demo.waitFor());
        assertTrue(output.contains(why), output);
        assertTrue(output.lines().count() <= 2, output);
    }

    private Process demo(String... options) throws IOException {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(TestDevice.aheadOfTimeFlags());
        command.addAll(List.of(
                "--enable-native-access=ALL-UNNAMED",
                "--sun-misc-unsafe-memory-access=allow",
                TestDevice.compilerFlag(),
                "-Dfarheap.verbs=" + System.getProperty("farheap.verbs"),
                TimeLimit.flag(),
                "-cp",
                System.getProperty("java.class.path") + ":" + marker,
                "io.farheap.cli.Main",
                "demo",
                "--file",
                file.toString()));
        if (!List.of(options).contains("--region")) {
            command.addAll(List.of("--region", "1m"));
        }
        command.addAll(List.of(options));
        return new ProcessBuilder(command).redirectErrorStream(true).start();
    }

    private static void awaitLoad(Process demo) throws IOException {
        BufferedReader output = demo.inputReader();
        StringBuilder seen = new StringBuilder();
        for (String line = output.readLine(); line != null; line = output.readLine()) {
            seen.append(line).append('\n');
            if (line.contains("operations/s")) {
                return;
            }
        }
        throw new AssertionError("the demo ended before its load ran:\n" + seen);
    }

    private List<String> ours() {
        return ProcessResources.processes(command -> command.contains(marker));
    }

    private List<String> servers() {
        return ProcessResources.processes(command -> command.contains(marker) && command.contains(" server "));
    }
}
