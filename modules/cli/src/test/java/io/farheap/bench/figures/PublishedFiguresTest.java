package io.farheap.bench.figures;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import io.farheap.bench.BenchCommand;
import io.farheap.testing.Need;
import io.farheap.testing.Needs;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;
import picocli.CommandLine.ParameterException;

/** This checkout's pages, stored figures and list of figures; the working directory is its root. */
@Needs(Need.HOST)
class PublishedFiguresTest {

    private static final Path ROOT = Path.of("").toAbsolutePath();

    private static FigureList figures;

    @BeforeAll
    static void read() throws IOException {
        figures = FigureList.read(ROOT);
    }

    /** If it fails since a figure has become old, ./farheap figures --render marks it. */
    @Test
    void pagesHaveWhatTheStoredFiguresRender() throws IOException {
        List<String> problems = new FigurePages(ROOT, figures, LocalDate.now(ZoneOffset.UTC)).problems();
        assertEquals("", String.join("\n", problems));
    }

    @Test
    void eachCommandPassesTheParser() {
        List<String> refused = new ArrayList<>();
        CommandLine parser = new CommandLine(new BenchCommand()).setCaseInsensitiveEnumValuesAllowed(true);
        for (FigureSpec figure : figures.all()) {
            for (boolean quickly : new boolean[] {false, true}) {
                List<String> words = new ArrayList<>(figure.words(quickly));
                words.removeIf(word -> word.startsWith("-X") || word.startsWith("-D"));
                if (!words.removeFirst().equals("bench")) {
                    refused.add(figure.typed(quickly) + ": it must be a benchmark");
                    continue;
                }
                words.addAll(List.of("--json", "report.json"));
                try {
                    parser.parseArgs(words.toArray(String[]::new));
                } catch (ParameterException e) {
                    refused.add(figure.typed(quickly) + ": " + e.getMessage());
                }
            }
        }
        assertEquals("", String.join("\n", refused));
        assertTrue(figures.all().size() > 20, figures.names());
    }

    @Test
    void eachPackageAndPageIsThere() throws IOException {
        List<String> missing = new ArrayList<>();
        GitTree tree = new GitTree(ROOT);
        for (FigureSpec figure : figures.all()) {
            for (String each : figure.packages()) {
                if (tree.paths(List.of(each)).isEmpty()) {
                    missing.add(figure.name() + ": package " + each);
                }
            }
            for (String page : figure.pages()) {
                if (!Files.exists(ROOT.resolve(page))) {
                    missing.add(figure.name() + ": page " + page);
                }
            }
        }
        assertEquals(List.of(), missing);
    }

    @Test
    void eachTemplateIsOneOfAFigure() throws IOException {
        List<Path> files;
        try (Stream<Path> each = Files.walk(ROOT.resolve(FigureTemplate.DIRECTORY))) {
            files = each.filter(Files::isRegularFile).toList();
        }
        for (Path file : files) {
            String figure = file.getParent().getFileName().toString();
            String name = file.getFileName().toString().replaceAll("\\.(table|text)$", "");
            assertNotNull(figures.named(figure), () -> file + " is of no figure");
            assertNotNull(FigureTemplate.read(ROOT, figure, name), file::toString);
        }
        assertFalse(files.isEmpty());
    }

    @Test
    void theMachineIsDescribed() throws Exception {
        JsonObject machine = MachineRecord.read(ROOT, false);
        for (String field : List.of("processor", "caches", "kernel", "hypervisor", "jdk")) {
            assertTrue(!machine.get(field).getAsString().isBlank(), machine::toString);
        }
        assertEquals(
                Runtime.getRuntime().availableProcessors(), machine.get("cores").getAsInt());
        assertTrue(machine.getAsJsonObject("peers").has("rocksdb"), machine::toString);
        assertTrue(MachineLoad.average() >= 0);
        double busy = MachineLoad.busyPercent();
        assertTrue(busy >= 0 && busy <= 100, () -> "busy for " + busy + "%");
    }
}
