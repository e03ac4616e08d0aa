package io.farheap.bench.against;

import io.farheap.bench.child.FarheapBuild;
import io.farheap.bench.report.BenchOutput;
import io.farheap.bench.report.BenchReport;
import io.farheap.verbs.Context;
import io.farheap.verbs.Devices;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.Collection;
import java.util.Locale;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;

/** Options of those {@code bench} commands that can compare this build with another. */
public final class AgainstOptions {

    private static final int DEFAULT_ROUNDS = 5;
    private static final int MAX_ROUNDS = 1000;

    @Option(
            names = "--against",
            paramLabel = "JAR",
            description = "compare this build with another one's executable jar: "
                    + "both run this benchmark in JVMs of their own, in turns")
    private @Nullable Path jar;

    @Option(
            names = "--rounds",
            paramLabel = "N",
            description = "with --against, how often three runs are made: of one build, the other, and the first again "
                    + "(default: " + DEFAULT_ROUNDS + ")")
    private @Nullable Integer rounds;

    /** Whether to compare two builds, instead of measuring this one. */
    public boolean wanted() {
        return jar != null;
    }

    /** Fails with a sentence if the options are invalid. */
    public void check(BenchOutput output) {
        if (rounds != null && jar == null) {
            throw new IllegalArgumentException("--rounds " + rounds + ": it is for --against JAR, which is not there");
        }
        if (rounds != null && (rounds < 1 || rounds > MAX_ROUNDS)) {
            throw new IllegalArgumentException("--rounds " + rounds + ": it must be from 1 to " + MAX_ROUNDS);
        }
        if (jar != null && output.plots()) {
            throw new IllegalArgumentException(
                    "--report: with --against there are no plots; --json FILE writes the comparison");
        }
        if (jar != null) {
            other();
        }
    }

    /**
     * Runs the benchmark of both builds, prints their differences, and writes them to the files that the user asked
     * for.
     */
    public void compare(CommandSpec command, BenchOutput output, RowShape shape)
            throws IOException, InterruptedException {
        int count = rounds == null ? DEFAULT_ROUNDS : rounds;
        BenchReport report;
        // Closed before the runs begin, so that they have the device to themselves.
        try (Context device = Devices.open()) {
            report = output.report(command, device);
        }
        AlternatingRuns runs = new AlternatingRuns(
                shape, SameArguments.of(command), command.commandLine().getErr());
        Comparison comparison = new Comparison(shape, runs.run(FarheapBuild.current(), other(), count));
        PrintStream out = System.out;
        report.origin().forEach(out::println);
        out.printf("""
            this build against %s
            %d runs in turns, %d rounds of three; medians
            ratio: this build over the other, of each three runs in succession; of a drop, of the throughput left
            same: the factor between two runs of one build, the first and the last of these three (90%%)

            """, jar, AlternatingRuns.RUNS_OF_A_ROUND * count, count);
        new ComparisonTable(out, shape, comparison).print();
        put(report, shape, comparison, count);
        output.write(report);
    }

    private FarheapBuild other() {
        try {
            return FarheapBuild.of(Objects.requireNonNull(jar));
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException("--against " + e.getMessage(), e);
        }
    }

    private void put(BenchReport report, RowShape shape, Comparison comparison, int count) {
        report.summary()
                .put("against", String.valueOf(jar))
                .put("rounds", count)
                .put("rows_matched", comparison.matched())
                .put("rows_beyond", comparison.beyond().size());
        for (Difference line : comparison.differences()) {
            BenchReport.Row row = report.row();
            shape.putIdentity(row, comparison.row(line.row()));
            row.put("figure", line.figure().field())
                    .put("over", line.figure().baseline())
                    .put("this", line.ours())
                    .put("other", line.theirs())
                    .put("ratio", line.ratio())
                    .put("ratio_p25", line.low())
                    .put("ratio_p75", line.high())
                    .put("same_build_factor", line.same())
                    .put("better", line.figure().lessIsBetter() ? "below 1" : "above 1")
                    .put("verdict", line.verdict().name().toLowerCase(Locale.ROOT));
        }
        putOnly(report, shape, comparison, "this", comparison.onlyThis());
        putOnly(report, shape, comparison, "other", comparison.onlyOther());
    }

    private static void putOnly(
            BenchReport report, RowShape shape, Comparison comparison, String build, Collection<String> rows) {
        for (String name : rows) {
            BenchReport.Row row = report.row();
            shape.putIdentity(row, comparison.row(name));
            row.put("only", build);
        }
    }
}
