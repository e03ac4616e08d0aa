package io.farheap.runner;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** What a run prints at its end, and its file of JSON. */
final class Report {

    private static final int SLOWEST = 20;

    /** One piece of the full form, or the short form, which is one. */
    record OfPiece(String name, Tally tally, double seconds) {}

    private final List<OfPiece> pieces = new ArrayList<>();
    private final Tally all = new Tally();

    void add(OfPiece piece) {
        pieces.add(piece);
        all.add(piece.tally);
    }

    Tally all() {
        return all;
    }

    /** @param budgets whether to say where it took longer than the short form should */
    void print(double seconds, double idleShare, boolean budgets) {
        if (!all.notRun().isEmpty()) {
            System.out.println("not run here: " + all.notRun().size());
            all.notRun().stream().sorted().forEach(line -> System.out.println("  " + line));
        }
        System.out.println();
        System.out.printf(Locale.ROOT, "%-12s %7s %9s %14s%n", "suite", "tests", "minutes", "core-minutes");
        List<String> longer = new ArrayList<>();
        for (Suite suite : Suite.values()) {
            double minutes = all.cpuSeconds(suite) / 60;
            if (all.tests(suite) == 0 && minutes == 0) {
                continue;
            }
            double wall = all.seconds(suite) / 60;
            System.out.printf(Locale.ROOT, "%-12s %7d %9.1f %14.1f%n", suite, all.tests(suite), wall, minutes);
            if (minutes > suite.coreMinutes()) {
                longer.add(String.format(Locale.ROOT, "%s %.1f of %.1f", suite, minutes, suite.coreMinutes()));
            }
        }
        System.out.printf(
                Locale.ROOT,
                "%-12s %7d %9.1f %14.1f   processors idled for %.0f%% of the time%n",
                "all",
                all.passed() + all.failed() + all.skipped(),
                seconds / 60,
                all.cpuSeconds() / 60,
                100 * idleShare);
        System.out.println();
        System.out.println("slowest, s by the wall and of processors:");
        for (Tally.Entry entry : all.slowest(SLOWEST)) {
            System.out.printf(
                    Locale.ROOT,
                    "  %7.1f %7.1f  %s: %s%n",
                    entry.result().seconds(),
                    entry.result().cpuSeconds(),
                    entry.suite(),
                    entry.result().shortName());
        }
        if (budgets && !longer.isEmpty()) {
            System.out.println("longer than the short form should take, in core-minutes: " + String.join(", ", longer));
        }
        for (Tally.Entry entry : all.failures()) {
            System.out.println(
                    "failed: " + entry.suite() + ": " + entry.result().name());
        }
    }

    /** The last line, which CI reads. */
    String lastLine() {
        return all.passed() + " passed, " + all.failed() + " failed, " + all.skipped() + " skipped";
    }

    void write(Path file, double seconds, String sources) {
        Map<String, Object> report = counts(all);
        report.put("seconds", seconds);
        report.put("sources", sources);
        List<Map<String, Object>> parts = new ArrayList<>();
        for (OfPiece piece : pieces) {
            Map<String, Object> part = new LinkedHashMap<>();
            part.put("name", piece.name);
            part.putAll(counts(piece.tally));
            part.put("seconds", piece.seconds);
            part.put("cpu_seconds", piece.tally.cpuSeconds());
            part.put("slowest", slowest(piece.tally));
            parts.add(part);
        }
        report.put("pieces", parts);
        try {
            Files.writeString(file, Json.of(report) + "\n");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Map<String, Object> counts(Tally tally) {
        Map<String, Object> counts = new LinkedHashMap<>();
        counts.put("passed", tally.passed());
        counts.put("failed", tally.failed());
        counts.put("skipped", tally.skipped());
        return counts;
    }

    private static List<Map<String, Object>> slowest(Tally tally) {
        return tally.slowest(SLOWEST).stream()
                .map(entry -> {
                    Map<String, Object> one = new LinkedHashMap<>();
                    one.put("class", entry.result().name());
                    one.put("seconds", entry.result().seconds());
                    return one;
                })
                .toList();
    }
}
