package io.farheap.bench.figures;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import io.farheap.testing.Need;
import io.farheap.testing.Needs;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Runs of a launcher that does what the list of figures asks of it. */
@Needs(Need.HOST)
class FigureRunsTest {

    private static final String COMMIT = "0123456789abcdef0123456789abcdef01234567";

    private static final String LAUNCHER = """
        #!/bin/sh
        case $2 in
            good)
                [ "$5" != --report ] || echo plot >"$6/good.png"
                cat >"$4" <<END
        {"rows": [{"op": "read", "p50_ns": 5, "late_pct": 0.25, "settings": "$SOFTVERBS$FARHEAP_JVM_OPTIONS"},
                  {"peer": "Redis", "absent": "it is not installed"}]}
        END
                ;;
            bad)
                echo "building" >&2
                echo "farheap: --size 0: it must be at least 1" >&2
                printf 'Usage: farheap\\n -h\\n' >&2
                exit 3
                ;;
            hang) exec sleep 1000 ;;
            waiting)
                echo $$ >pid
                exec sleep 1000
                ;;
            silent) ;;
            empty) echo '{"rows": []}' >"$4" ;;
        esac
        """;

    @TempDir
    private Path directory;

    private StringWriter messages = new StringWriter();

    @BeforeEach
    void make() throws IOException {
        Path launcher = Files.writeString(directory.resolve("farheap"), LAUNCHER);
        Files.setPosixFilePermissions(launcher, PosixFilePermissions.fromString("rwxr-xr-x"));
        Files.createDirectories(directory.resolve("docs/figures"));
    }

    /** The limit is short for the one alone that does not end: on a busy machine the others take seconds. */
    private static String figure(String name, String more) {
        return """
            {"name": "%1$s", "command": "bench %1$s", "quick": "bench %1$s", "expected_s": 1, "limit_s": %2$d,
             "packages": ["io.farheap.kv"]%3$s}
            """.formatted(name, name.equals("hang") ? 1 : 600, more);
    }

    private int run(boolean quickly, String... figures) throws IOException, InterruptedException {
        Files.writeString(directory.resolve(FigureList.FILE), "[" + String.join(",", figures) + "]");
        JsonObject machine = new JsonObject();
        machine.addProperty("processor", "AMD EPYC");
        machine.addProperty("cores", 2);
        machine.addProperty("kernel", "6.1");
        machine.addProperty("jdk", "OpenJDK 25");
        return new FigureRuns(directory, quickly, new PrintWriter(messages))
                .run(FigureList.read(directory).all(), COMMIT, true, machine);
    }

    @Test
    void aResultHasItsOriginAndItsReport() throws Exception {
        assertEquals(0, run(false, figure("good", """
                , "environment": {"SOFTVERBS": "model=made"}, "plots": ["good.png", "none.png"]""")));
        FigureFile stored = FigureFile.read(directory, "good");
        assertNotNull(stored);
        assertEquals(List.of(), stored.problems("SOFTVERBS=model=made ./farheap bench good"));
        assertEquals("SOFTVERBS=model=made ./farheap bench good", stored.command());
        assertEquals(COMMIT, stored.commit());
        assertTrue(stored.dirty());
        assertEquals("AMD EPYC, 2 cores", stored.machine());
        assertEquals(0.25, stored.latePercent());
        assertEquals(List.of("good.png"), stored.plots());
        assertEquals("model=made", stored.rows().getFirst().get("settings").getAsString(), "the list's settings alone");
        assertEquals("plot\n", Files.readString(directory.resolve("docs/figures/good.png")));
        assertEquals("""
                good: SOFTVERBS=model=made ./farheap bench good
                farheap: good: it wrote no plot none.png, which docs/figures/figures.json lists
                good: stored in docs/figures/json/good.json
                farheap: good: a peer is absent: Redis: it is not installed
                """, messages.toString());
    }

    @Test
    void oneThatFailsKeepsItsOldResultAndOthersContinue() throws Exception {
        assertEquals(0, run(false, figure("good", "")));
        Path old = directory.resolve(FigureFile.place("good"));
        Files.move(old, directory.resolve(FigureFile.place("bad")));
        messages = new StringWriter();
        assertEquals(
                4,
                run(
                        false,
                        figure("bad", ""),
                        figure("hang", ""),
                        figure("silent", ""),
                        figure("empty", ""),
                        figure("good", "")));
        FigureFile bad = FigureFile.read(directory, "bad");
        assertNotNull(bad);
        assertEquals(List.of(), bad.problems("./farheap bench good"));
        assertEquals(5, bad.rows().getFirst().get("p50_ns").getAsInt());
        assertNotNull(bad.failedOn());
        FigureFile good = FigureFile.read(directory, "good");
        assertNotNull(good);
        assertNull(good.failedOn());
        assertEquals("""
                bad: ./farheap bench bad
                farheap: bad: it ended with status 3; its last message: farheap: --size 0: it must be at least 1; \
                the figure of %s stays, and is marked
                hang: ./farheap bench hang
                farheap: hang: it has not ended within 1 s, and was killed
                silent: ./farheap bench silent
                farheap: silent: it wrote no report with rows, and printed no message
                empty: ./farheap bench empty
                farheap: empty: it wrote no report with rows, and printed no message
                good: ./farheap bench good
                good: stored in docs/figures/json/good.json
                farheap: good: a peer is absent: Redis: it is not installed
                """.formatted(bad.date()), messages.toString());
    }

    @Test
    void anEarlierResultThatIsBrokenStopsNoOtherFigure() throws Exception {
        Path broken = directory.resolve(FigureFile.place("bad"));
        Files.createDirectories(broken.getParent());
        Files.writeString(broken, "{");
        assertEquals(1, run(false, figure("bad", ""), figure("good", "")));
        assertEquals("{", Files.readString(broken));
        assertNotNull(FigureFile.read(directory, "good"));
        assertTrue(
                messages.toString()
                        .contains("at least 1; its earlier figure stays, and cannot be marked: "
                                + "docs/figures/json/bad.json: it is not JSON"),
                messages::toString);
    }

    @Test
    void aResultThatCannotBeStoredStopsNoOtherFigure() throws Exception {
        Path place = directory.resolve(FigureFile.place("good"));
        Files.createDirectories(place.resolve("a directory in its place"));
        assertEquals(2, run(false, figure("good", ""), figure("bad", "")));
        assertTrue(
                messages.toString().contains("farheap: good: it could not be measured or stored: "),
                messages::toString);
        assertTrue(messages.toString().contains("farheap: bad: it ended with status 3"), messages::toString);
    }

    /** As by Ctrl-C: the run's process ends, and the earlier figure stays as it was. */
    @Test
    void anInterruptedRunLeavesTheEarlierFigureAndNoProcess() throws Exception {
        assertEquals(0, run(false, figure("good", "")));
        Path old = directory.resolve(FigureFile.place("good"));
        Path stored = directory.resolve(FigureFile.place("waiting"));
        Files.move(old, stored);
        String before = Files.readString(stored);
        AtomicReference<Throwable> thrown = new AtomicReference<>();
        Thread measuring = Thread.ofPlatform().start(() -> {
            try {
                run(false, figure("waiting", ""), figure("good", ""));
            } catch (Throwable e) {
                thrown.set(e);
            }
        });
        Path pid = directory.resolve("pid");
        while (!Files.exists(pid) || !Files.readString(pid).endsWith("\n")) {
            Thread.sleep(10);
        }
        measuring.interrupt();
        measuring.join();
        assertInstanceOf(InterruptedException.class, thrown.get());
        assertEquals(before, Files.readString(stored));
        assertNull(FigureFile.read(directory, "good"), "the next figure is not measured");
        long process = Long.parseLong(Files.readString(pid).strip());
        assertTrue(ProcessHandle.of(process).filter(ProcessHandle::isAlive).isEmpty(), () -> "process " + process);
    }

    @Test
    void aQuickResultIsNotPublished() throws Exception {
        assertEquals(0, run(true, figure("good", ", \"plots\": [\"good.png\"]")));
        assertTrue(Files.exists(directory.resolve("target/figures/good.json")));
        assertNull(FigureFile.read(directory, "good"));
        assertFalse(Files.exists(directory.resolve("docs/figures/good.png")));
    }
}
