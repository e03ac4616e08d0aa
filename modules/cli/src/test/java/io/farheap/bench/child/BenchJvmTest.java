package io.farheap.bench.child;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonArray;
import io.farheap.testing.Effort;
import io.farheap.testing.TestDevice;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.jar.Attributes;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Runs of a made-up build, whose arguments choose its behaviour. */
class BenchJvmTest {

    private static final String MAIN = """
        package io.farheap.cli;

        import java.nio.file.*;

        public class Main {
            public static void main(String[] arguments) throws Exception {
                Path json = Path.of(arguments[arguments.length - 1]);
                switch (arguments[0]) {
                    case "report" -> Files.writeString(json, "{rows: ['" + System.getProperty("farheap.verbs") + "']}");
                    case "write" -> Files.writeString(json, arguments[1]);
                    case "fail" -> {
                        for (int i = 1; i <= 20; i++) System.err.println("line " + i);
                        System.err.println("Usage: farheap\\n  -h");
                        System.exit(3);
                    }
                    case "hang" -> {
                        Files.createFile(Path.of(arguments[1]));
                        Thread.sleep(Long.MAX_VALUE);
                    }
                }
            }
        }
        """;

    @TempDir
    private Path directory;

    private FarheapBuild build;

    private static byte[] compiled;

    @BeforeAll
    static void compile(@TempDir Path place) throws IOException {
        Path source = Files.writeString(place.resolve("Main.java"), MAIN);
        String[] compile = {"-d", place.toString(), source.toString()};
        assertEquals(0, ToolProvider.getSystemJavaCompiler().run(null, null, null, compile));
        compiled = Files.readAllBytes(place.resolve("io/farheap/cli/Main.class"));
    }

    @BeforeEach
    void makeJar() throws IOException {
        Manifest manifest = new Manifest();
        manifest.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
        manifest.getMainAttributes().put(Attributes.Name.MAIN_CLASS, "io.farheap.cli.Main");
        Path jar = directory.resolve("told.jar");
        try (JarOutputStream out = new JarOutputStream(Files.newOutputStream(jar), manifest)) {
            out.putNextEntry(new JarEntry("io/farheap/cli/Main.class"));
            out.write(compiled);
        }
        build = FarheapBuild.of(jar);
    }

    private JsonArray run(Duration limit, String... arguments) throws IOException, InterruptedException {
        return BenchJvm.run(build, List.of(arguments), limit);
    }

    private String failure(Duration limit, String... arguments) {
        return assertThrows(BenchRunException.class, () -> run(limit, arguments))
                .getMessage();
    }

    /** No process of the build's jar, which only this test has, is left. */
    private void assertNothingIsLeft() {
        long deadline =
                System.nanoTime() + Duration.ofSeconds(TestDevice.patience(30)).toNanos();
        // A killed process may exist until the kernel schedules it once more.
        while (!left().isEmpty() && System.nanoTime() - deadline < 0) {
            LockSupport.parkNanos(1_000_000);
        }
        assertEquals(List.of(), left());
    }

    private List<String> left() {
        return ProcessHandle.allProcesses()
                .map(process -> process.info().commandLine().orElse(""))
                .filter(line -> line.contains(directory.toString()))
                .toList();
    }

    @Test
    void itsRowsAreReadAndItHasTheDeviceOfThisProcess() throws Exception {
        JsonArray rows = run(BenchJvm.LIMIT, "report");
        assertEquals(1, rows.size());
        assertTrue(List.of("soft", "system").contains(rows.get(0).getAsString()), rows::toString);
        assertNothingIsLeft();
    }

    @Test
    void aFailureShowsTheLastMessages() {
        String message = failure(BenchJvm.LIMIT, "fail");
        List<String> lines = message.lines().toList();
        assertEquals("a run of " + build.title() + " ended with status 3; its last messages:", lines.getFirst());
        assertEquals(11, lines.size());
        assertEquals("line 11", lines.get(1));
        assertEquals("line 20", lines.getLast());
    }

    @Test
    void aRunWithoutReportIsAFailure() {
        for (String written : Effort.variants(2, "", "{rows: 1}", "[]", "{").toList()) {
            assertEquals(
                    "a run of " + build.title() + " wrote no report with rows; it printed no message",
                    failure(BenchJvm.LIMIT, "write", written));
        }
    }

    @Test
    void aRunThatHangsIsKilled() {
        String message = failure(
                Duration.ofSeconds(1), "hang", directory.resolve("hangs").toString());
        assertTrue(message.contains("has not ended within 1 s, and was killed"), message);
        assertNothingIsLeft();
    }

    @Test
    void anInterruptedRunIsKilled() throws Exception {
        Path hangs = directory.resolve("hangs");
        AtomicReference<Throwable> thrown = new AtomicReference<>();
        Thread runner = Thread.ofPlatform().start(() -> {
            try {
                run(BenchJvm.LIMIT, "hang", hangs.toString());
            } catch (Throwable e) {
                thrown.set(e);
            }
        });
        long deadline =
                System.nanoTime() + Duration.ofSeconds(TestDevice.patience(60)).toNanos();
        while (!Files.exists(hangs) && System.nanoTime() - deadline < 0) {
            Thread.sleep(10);
        }
        runner.interrupt();
        runner.join();
        assertInstanceOf(InterruptedException.class, thrown.get());
        assertNothingIsLeft();
    }
}
