package io.farheap.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.testing.Need;
import io.farheap.testing.Needs;
import java.io.File;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.jar.Attributes;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** {@code farheap bench --against}, with the same build on both sides. */
class BenchAgainstTest {

    private static final String MAIN = "io.farheap.cli.Main";

    @TempDir
    private Path directory;

    /** An executable jar of the classes that this test runs with: the real one is made after the tests. */
    private Path jar(String mainClass) throws IOException {
        Manifest manifest = new Manifest();
        Attributes attributes = manifest.getMainAttributes();
        attributes.put(Attributes.Name.MANIFEST_VERSION, "1.0");
        attributes.put(Attributes.Name.MAIN_CLASS, mainClass);
        String[] classPath = System.getProperty("java.class.path").split(File.pathSeparator);
        attributes.put(
                Attributes.Name.CLASS_PATH,
                Arrays.stream(classPath)
                        .map(entry -> Path.of(entry).toUri().toString())
                        .collect(Collectors.joining(" ")));
        Path jar = directory.resolve("other.jar");
        new JarOutputStream(Files.newOutputStream(jar), manifest).close();
        return jar;
    }

    private Figures compare(String... arguments) throws Exception {
        Path json = directory.resolve("comparison.json");
        List<String> all = new ArrayList<>(List.of("bench"));
        all.addAll(List.of(arguments));
        all.addAll(List.of("--rounds", "1", "--against", jar(MAIN).toString(), "--json", json.toString()));
        CommandProcess bench = CommandProcess.start(Map.of(), all.toArray(String[]::new));
        String printed = bench.awaitEnd(0);
        bench.assertNothingIsLeft();
        assertTrue(printed.contains("this build against "), printed);
        assertTrue(printed.lines().toList().getLast().contains(" rows differ by more than "), printed);
        return Figures.read(json);
    }

    /** Figures by the names of their rows: each with both builds' values and their comparison. */
    private static Map<String, List<String>> figures(Figures comparison, String... identity) {
        Map<String, List<String>> figures = new TreeMap<>();
        for (Figures row : comparison.rows()) {
            row.assertThere("this", "other");
            assertTrue(List.of("slower", "faster", "same").contains(row.text("verdict")), row::toString);
            String name = Arrays.stream(identity).map(row::text).collect(Collectors.joining(" "));
            String over = row.fields().get("over").isJsonNull() ? "" : "/" + row.text("over");
            figures.computeIfAbsent(name, ignored -> new ArrayList<>()).add(row.text("figure") + over);
        }
        assertEquals(figures.size(), comparison.count("rows_matched"));
        return figures;
    }

    @Test
    @Needs({Need.SOFTVERBS, Need.HOST})
    @Tag("full")
    void rawIsComparedBesideItsLoopInC() throws Exception {
        Figures comparison = compare("raw", "--op", "read", "--size", "8", "--queue-depth", "1", "--turns", "1");
        assertEquals(
                Map.of(
                        "read 8 1 1",
                        List.of(
                                "java_p50_ns",
                                "java_p50_ns/raw_p50_ns",
                                "verbs_p50_ns",
                                "verbs_p50_ns/raw_p50_ns",
                                "untracked_p50_ns",
                                "untracked_p50_ns/raw_p50_ns",
                                "java_p99_ns",
                                "java_p99_ns/raw_p50_ns")),
                figures(comparison, "op", "size", "queue_depth", "wrs_per_post"));
        assertEquals(1, comparison.count("rounds"));
        assertTrue(comparison.text("command").contains("bench raw"), comparison::toString);
    }

    /** Rows of one command have different figures: each row is compared by those that it has. */
    @Test
    @Needs({Need.SOFTVERBS, Need.HOST})
    @Tag("full")
    void proceduresAreComparedByTheFiguresOfEachKindOfRow() throws Exception {
        Figures comparison =
                compare("procedure", "--op", "chase,rate", "--depth=1", "--span=64k", "--repeat=1", "--millis=10");
        Map<String, List<String>> figures = figures(comparison, "op", "depth", "span", "computed");
        assertEquals(
                List.of("call_p50_ns", "call_p50_ns/read_p50_ns", "call_p99_ns", "call_p999_ns", "read_p50_ns"),
                figures.remove("chase 1 65536 false"));
        assertEquals(List.of("calls_per_s", "reads_per_s"), figures.remove("rate 1 65536 false"));
        assertEquals(List.of("calls_per_s", "reads_per_s"), figures.remove("rate 8 65536 false"));
        assertEquals(Map.of(), figures);
    }

    @Test
    @Needs(Need.SOFTVERBS)
    @Tag("full")
    void nothingIsLeftWhereItIsKilled() throws Exception {
        // A killed process cannot remove its temporary files, so they go into the test's directory.
        CommandProcess bench = CommandProcess.start(
                Map.of("JDK_JAVA_OPTIONS", "-Djava.io.tmpdir=" + directory),
                "bench",
                "raw",
                "--against",
                jar(MAIN).toString());
        bench.awaitLine("round 1 of 5: this build");
        // Four processes: the command, a shell, the one that waits for the end of its input, and the run.
        bench.awaitProcesses(4);
        bench.kill();
        bench.assertNothingIsLeft();
    }

    @Test
    @Needs(Need.SOFTVERBS)
    void whatMakesNoSenseIsRefusedInASentence() throws Exception {
        String jar = jar(MAIN).toString();
        assertEquals(
                "farheap: --against /nowhere/far.jar: there is no such file",
                refused("bench", "raw", "--against", "/nowhere/far.jar"));
        assertEquals(
                "farheap: --rounds 0: it must be from 1 to 1000",
                refused("bench", "cache", "--against", jar, "--rounds", "0"));
        assertEquals(
                "farheap: --rounds 2: it is for --against JAR, which is not there",
                refused("bench", "migration", "--rounds", "2"));
        for (String command : List.of("kv", "procedure", "store", "resilience")) {
            assertEquals(
                    "farheap: --against /nowhere/far.jar: there is no such file",
                    refused("bench", command, "--against", "/nowhere/far.jar"));
        }
        assertTrue(refused("bench", "raw", "--against", jar, "--report", directory.toString())
                .startsWith("farheap: --report: "));
        String notOurs = jar("org.example.Main").toString();
        assertTrue(refused("bench", "raw", "--against", notOurs)
                .startsWith("farheap: --against " + notOurs + ": it is not an executable jar of Farheap"));
        String noJar = Files.writeString(directory.resolve("text"), "text").toString();
        assertTrue(refused("bench", "raw", "--against", noJar)
                .startsWith("farheap: --against " + noJar + ": it is not an executable jar of Farheap"));
    }

    private static String refused(String... arguments) {
        StringWriter errors = new StringWriter();
        CommandLine command = Main.commandLine().setErr(new PrintWriter(errors, true));
        assertEquals(CommandLine.ExitCode.SOFTWARE, command.execute(arguments));
        return errors.toString().strip();
    }
}
