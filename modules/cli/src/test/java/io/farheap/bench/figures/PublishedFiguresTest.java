package io.farheap.bench.figures;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import io.farheap.bench.BenchCommand;
import io.farheap.docs.Page;
import io.farheap.testing.Need;
import io.farheap.testing.Needs;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
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

    /** Neither the calendar nor a later commit makes it fail: FigurePagesTest and OutdatedFiguresTest say so. */
    @Test
    void pagesHaveWhatTheStoredFiguresRender() throws IOException {
        assertEquals("", String.join("\n", new FigurePages(ROOT, figures).problems()));
    }

    /** Else a commit to measured code would need a shorter page first. */
    @Test
    void pagesHaveRoomForTheMarksOfOldFigures() throws IOException {
        List<String> full = new ArrayList<>();
        new FigurePages(ROOT, figures).old().forEach((path, lines) -> {
            int bytes = String.join("\n", lines).getBytes(StandardCharsets.UTF_8).length + 1;
            if (lines.size() > Page.MOST_LINES || path.equals(Path.of("README.md")) && bytes > Page.MOST_README_BYTES) {
                full.add(path + ": " + lines.size() + " lines, " + bytes + " bytes");
            }
        });
        assertEquals(List.of(), full);
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

    /** A change of the rules for turns, medians and late operations changes every figure. */
    @Test
    void eachFigureNamesTheCodeThatMeasuresIt() {
        List<String> missing = new ArrayList<>();
        for (FigureSpec figure : figures.all()) {
            List<String> words = figure.words(false).stream()
                    .filter(word -> !word.startsWith("-"))
                    .toList();
            String benchmark = words.get(1);
            // Each reads the cost of the clock from the package of the machine.
            List<String> needed = new ArrayList<>(
                    List.of("io.farheap.bench.report", "io.farheap.bench.machine", "io.farheap.bench." + benchmark));
            if (List.of("raw", "peers", "ycsb").contains(benchmark)) {
                needed.add("src/bench/native");
            }
            if (figure.words(false).contains("--peers")) {
                needed.add("src/peers");
            }
            needed.removeAll(figure.packages());
            needed.forEach(each -> missing.add(figure.name() + ": " + each));
        }
        assertEquals(List.of(), missing);
    }

    /** As the help of ./farheap figures says. */
    @Test
    void allTakeSomeFourHours() {
        Duration all = Duration.ZERO;
        for (FigureSpec figure : figures.all()) {
            all = all.plus(figure.expected());
            assertTrue(
                    figure.limit().compareTo(figure.expected().multipliedBy(2)) >= 0
                            && figure.limit().compareTo(figure.expected().multipliedBy(6)) <= 0,
                    () -> figure.name() + ": its limit is 2 to 6 times as long as a run on a quiet machine");
        }
        assertTrue(all.toMinutes() >= 225 && all.toMinutes() <= 255, all::toString);
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

    /** Else a benchmark would be run for figures that no reader sees. */
    @Test
    void eachTemplateHasAPlaceInAPageOfItsFigure() throws IOException {
        Set<Path> placed = new HashSet<>();
        for (FigureSpec figure : figures.all()) {
            for (String page : figure.pages()) {
                for (MarkedPage.Marker marker :
                        MarkedPage.read(ROOT, Path.of(page)).markers()) {
                    if (marker.figure().equals(figure.name())) {
                        placed.add(Path.of(figure.name(), marker.template()));
                    }
                }
            }
        }
        Path directory = ROOT.resolve(FigureTemplate.DIRECTORY);
        try (Stream<Path> each = Files.walk(directory)) {
            List<String> lost = each.filter(Files::isRegularFile)
                    .map(file -> directory.relativize(file).toString().replaceAll("\\.(table|text)$", ""))
                    .filter(name -> !placed.contains(Path.of(name)))
                    .sorted()
                    .toList();
            assertEquals(List.of(), lost);
        }
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
        MachineLoad load = MachineLoad.now();
        assertTrue(load.average() >= 0, load::toString);
        assertTrue(load.busyPercent() >= 0 && load.busyPercent() <= 100, load::toString);
    }
}
