package io.farheap.bench.figures;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
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

    private static String figure(String name, String more) {
        return """
            {"name": "%1$s", "command": "bench %1$s", "quick": "bench %1$s", "limit_s": 1,
             "packages": ["io.farheap.kv"]%2$s}
            """.formatted(name, more);
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
        assertEquals(List.of(), stored.problems());
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
        assertEquals(List.of(), bad.problems());
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
                farheap: good: a peer is absent: Redis: it is not installed
                """.formatted(bad.date()), messages.toString());
    }

    @Test
    void aQuickResultIsNotPublished() throws Exception {
        assertEquals(0, run(true, figure("good", ", \"plots\": [\"good.png\"]")));
        assertTrue(Files.exists(directory.resolve("target/figures/good.json")));
        assertNull(FigureFile.read(directory, "good"));
        assertFalse(Files.exists(directory.resolve("docs/figures/good.png")));
    }
}
