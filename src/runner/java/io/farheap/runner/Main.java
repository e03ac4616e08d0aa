package io.farheap.runner;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * {@code ./farheap test}: builds all, and runs the short form, or pieces of the full one. The launcher starts it from
 * its sources, before anything is built, in the root of a checkout.
 */
public final class Main {

    private static final Path ROOT = Path.of("").toAbsolutePath();
    private static final Path TARGET = ROOT.resolve("target").resolve("test-run");
    private static final Path CHECKED_IN = ROOT.resolve("src").resolve("runner").resolve("times");

    private final Arguments arguments;
    private final Effort effort;
    private final Times times;
    private final Planner planner;
    private final String run = ProcessHandle.current().pid() + "-" + System.currentTimeMillis();
    private final List<Piece> pieces;
    private final Report report = new Report();

    /** @throws IllegalArgumentException in one sentence */
    private Main(Arguments arguments) {
        this.arguments = arguments;
        effort = arguments.full() ? Effort.FULL : Effort.SHORT;
        Path checkedIn = CHECKED_IN.resolve(effort + ".tsv");
        times = new Times(checkedIn, TARGET.resolve("times-" + effort + ".tsv"));
        // What is in a piece does not depend on the machine.
        planner = new Planner(ROOT, effort, arguments.full() ? new Times(checkedIn) : times);
        pieces = arguments.full() ? chosen(planner.pieces()) : List.of();
    }

    public static void main(String[] words) throws Exception {
        Main main;
        try {
            main = new Main(Arguments.parse(words));
        } catch (IllegalArgumentException e) {
            System.err.println("farheap: " + e.getMessage());
            System.exit(1);
            return;
        }
        System.exit(main.arguments.check() ? 0 : main.run());
    }

    private int run() throws Exception {
        Stamps stamps = new Stamps(TARGET.resolve("stamps"));
        // Taken before anything is built: what is built then is what runs, whatever changes meanwhile.
        String sources = Sources.checksum(ROOT);
        if (arguments.list()) {
            pieces.forEach(piece -> System.out.println(
                    piece.name() + (stamps.has(piece, sources) ? "  passed for these sources" : "")));
            return 0;
        }
        deleteDirectory(TARGET.resolve("items"));
        long started = System.nanoTime();
        ProcessorTime processors = ProcessorTime.now();
        boolean passed = true;
        try (Watchdog _ = new Watchdog(run)) {
            if (arguments.full()) {
                boolean asked = arguments.again() || !arguments.pieces().isEmpty();
                passed = runPieces(
                        pieces.stream()
                                .filter(piece -> asked || !stamps.has(piece, sources))
                                .toList(),
                        stamps,
                        sources);
                checkSuites(report.all());
            } else {
                runShort();
            }
        }
        double seconds = (System.nanoTime() - started) / 1e9;
        if (arguments.suites().isEmpty() && arguments.pieces().isEmpty()) {
            SourceSizes.of(ROOT).print(10);
        }
        report.print(seconds, ProcessorTime.now().idleShareSince(processors), !arguments.full());
        if (arguments.full()) {
            printMissing(stamps);
        }
        if (arguments.json() != null) {
            report.write(arguments.json(), seconds, sources);
        }
        System.out.println(report.lastLine());
        return passed && report.all().failed() == 0 ? 0 : 1;
    }

    private List<Piece> chosen(List<Piece> all) {
        List<Piece> those = all.stream()
                .filter(piece ->
                        !arguments.device().equals("soft") || !piece.name().startsWith("guest"))
                .toList();
        if (arguments.pieces().isEmpty()) {
            return those;
        }
        List<Piece> chosen = new ArrayList<>();
        for (String name : arguments.pieces()) {
            chosen.add(those.stream()
                    .filter(piece -> piece.name().equals(name))
                    .findFirst()
                    .orElseThrow(() -> new IllegalArgumentException("there is no piece " + name + " here; there are "
                            + String.join(", ", those.stream().map(Piece::name).toList()))));
        }
        return chosen;
    }

    // --- the short form ---

    private void runShort() throws InterruptedException {
        List<Suite> suites = arguments.suites().isEmpty() ? List.of(Suite.values()) : arguments.suites();
        List<Item> items = new ArrayList<>();
        if (arguments.device().equals("rxe")) {
            suites = List.of(Suite.GUEST);
            items.addAll(planner.rxe());
        } else {
            for (Suite suite : suites) {
                if (suite != Suite.GUEST || !arguments.device().equals("soft")) {
                    items.addAll(planner.shortItems(suite));
                }
            }
        }
        Tally tally = new Tally();
        long started = System.nanoTime();
        runItems(items, _ -> tally, (_, _, _) -> {});
        boolean builtAll = tally.failures().stream().noneMatch(entry -> entry.suite() == Suite.BUILD);
        if (builtAll && !arguments.device().equals("rxe")) {
            checkAllRan(suites, tally);
        }
        report.add(new Report.OfPiece("short", tally, (System.nanoTime() - started) / 1e9));
    }

    /** A suite without a test, a class that was planned and has no result, and one on disk that is in no suite. */
    private void checkAllRan(List<Suite> suites, Tally tally) {
        for (Suite suite : suites) {
            boolean left = suite == Suite.BUILD
                    || suite == Suite.GUEST && arguments.device().equals("soft");
            if (!left && tally.tests(suite) == 0) {
                fail(tally, suite, Result.failure(suite.toString(), "the suite ran no test"));
            }
            Set<String> ran = tally.names(suite);
            for (TestClass one : planner.planned(suite)) {
                if (!left && !ran.contains(one.name())) {
                    fail(tally, suite, Result.failure(one.name(), "it was planned and not run"));
                }
            }
        }
        checkSuites(tally);
    }

    /** A class on disk that is in no suite, and one that a suite names and that is not on disk. */
    private void checkSuites(Tally tally) {
        for (String name : planner.missingOfWeak()) {
            fail(tally, Suite.WEAK, Result.failure(name, "it is in the suite, and not on disk"));
        }
        for (String file : inNoSuite(ROOT)) {
            fail(
                    tally,
                    Suite.LIBRARY,
                    Result.failure(
                            file,
                            "it is in no suite: "
                                    + TestModule.ALL.stream()
                                            .map(module -> module.sources() + "/**/*Test.java")
                                            .collect(Collectors.joining(", "))
                                    + " are"));
        }
    }

    static List<String> inNoSuite(Path root) {
        List<Path> known = TestModule.ALL.stream()
                .map(module -> root.resolve(module.sources()))
                .toList();
        List<String> found = new ArrayList<>();
        for (String directory : List.of("src", "modules")) {
            try (Stream<Path> files = Files.walk(root.resolve(directory))) {
                files.filter(file -> file.getFileName().toString().endsWith("Test.java"))
                        .filter(file -> known.stream().noneMatch(file::startsWith))
                        .filter(file -> !file.toString().contains("/target/"))
                        .forEach(file -> found.add(root.relativize(file).toString()));
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
        return found;
    }

    private static void fail(Tally tally, Suite suite, Result result) {
        System.out.println("FAILED " + suite + ": " + result.name() + ": " + result.failure());
        tally.add(suite, result);
    }

    // --- the full form ---

    /**
     * All in one queue: a guest, or a test that waits, leaves most of a processor to other pieces.
     *
     * @return whether all passed; one whose build failed has no failure of its own
     */
    private boolean runPieces(List<Piece> those, Stamps stamps, String sources) throws InterruptedException {
        those.forEach(stamps::remove);
        List<RunningPiece> running = those.stream().map(RunningPiece::new).toList();
        Map<String, Tally> tallies = new HashMap<>();
        // An item that two pieces need is run once, and counts for the first.
        List<Item> items = new ArrayList<>();
        for (RunningPiece piece : running) {
            for (Item item : piece.piece().items()) {
                if (tallies.putIfAbsent(item.name(), piece.tally()) == null) {
                    items.add(item);
                }
            }
        }
        Tally builds = new Tally();
        runItems(items, item -> tallies.getOrDefault(item.name(), builds), (item, ending, outcome) -> {
            outcome.rest().forEach(rest -> tallies.put(rest.name(), tallies.get(item.name())));
            for (RunningPiece piece : running) {
                if (piece.ended(item, ending, outcome, System.nanoTime())) {
                    finish(piece, stamps, sources);
                }
            }
        });
        if (builds.cpuSeconds() > 0 || builds.failed() > 0) {
            report.add(new Report.OfPiece("builds", builds, builds.seconds(Suite.BUILD)));
        }
        return running.stream().allMatch(RunningPiece::passed);
    }

    private void finish(RunningPiece piece, Stamps stamps, String sources) {
        String name = piece.piece().name();
        report.add(new Report.OfPiece(name, piece.tally(), piece.seconds()));
        if (!piece.passed()) {
            System.out.println("== piece " + name + " failed");
        } else if (!sources.equals(Sources.checksum(ROOT))) {
            System.out.println("the sources have changed since they were built: " + name + " has passed for none");
        } else {
            stamps.put(piece.piece(), sources);
            System.out.println("== piece " + name + " passed");
        }
    }

    private void printMissing(Stamps stamps) {
        String sources = Sources.checksum(ROOT);
        List<String> missing = planner.pieces().stream()
                .filter(piece -> !stamps.has(piece, sources))
                .map(Piece::name)
                .toList();
        System.out.println(
                missing.isEmpty()
                        ? "each piece of the full form has passed for these sources"
                        : "pieces that have not passed for these sources: " + String.join(", ", missing));
    }

    // --- both ---

    /** @param then is called with each item that has ended, after it was printed and counted */
    private void runItems(List<Item> items, Function<Item, Tally> tallies, Pool.Listener then)
            throws InterruptedException {
        List<Item> all = new ArrayList<>(needed(items));
        all.addAll(items);
        Progress progress = new Progress(all.size(), times);
        new Pool(
                        ROOT,
                        TARGET.resolve("items"),
                        run,
                        2 * Runtime.getRuntime().availableProcessors(),
                        (item, ending, outcome) -> {
                            progress.ended(item, ending, outcome, tallies.apply(item));
                            if (item.name().equals(Planner.MAVEN) && ending.passed()) {
                                writeBuildStamp();
                            }
                            then.ended(item, ending, outcome);
                        })
                .run(all);
    }

    /** The builds that these items, or those that they need, come after. */
    private List<Item> needed(List<Item> items) {
        Set<String> names = new HashSet<>();
        items.forEach(item -> names.addAll(item.after()));
        List<Item> builds = planner.builds();
        builds.stream().filter(item -> names.contains(item.name())).forEach(item -> names.addAll(item.after()));
        return builds.stream().filter(item -> names.contains(item.name())).toList();
    }

    /** The launcher knows by them what its jar was made of, and that its classes passed the checks. */
    private static void writeBuildStamp() {
        String stamp = System.getProperty("farheap.buildStamp");
        if (stamp == null) {
            return;
        }
        try {
            Files.writeString(ROOT.resolve("target").resolve("farheap.stamp"), stamp + "\n");
            Files.deleteIfExists(ROOT.resolve("target").resolve("unchecked"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void deleteDirectory(Path directory) throws IOException {
        if (!Files.isDirectory(directory)) {
            return;
        }
        try (Stream<Path> files = Files.walk(directory)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        }
    }
}
