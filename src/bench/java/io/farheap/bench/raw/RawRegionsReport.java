package io.farheap.bench.raw;

import io.farheap.bench.against.AgainstOptions;
import io.farheap.bench.against.ComparedRows;
import io.farheap.bench.machine.ClockCost;
import io.farheap.bench.report.BenchOutput;
import io.farheap.bench.report.BenchReport;
import io.farheap.bench.report.ModelLateness;
import io.farheap.bench.report.TimingNote;
import io.farheap.command.DeviceNotice;
import io.farheap.command.Plot;
import io.farheap.memory.Plurals;
import io.farheap.verbs.Context;
import io.farheap.verbs.Devices;
import java.io.IOException;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import picocli.CommandLine.Model.CommandSpec;

/** {@code bench raw --regions}: its options, its table, its rows and its plot. */
public final class RawRegionsReport {

    /** Regions in ascending order. */
    public record Plan(
            List<RawOperation> operations, List<Long> sizes, List<Integer> regions, List<Integer> sessions) {}

    private final CommandSpec spec;
    private final BenchOutput output;
    private final AgainstOptions against;

    public RawRegionsReport(CommandSpec spec, BenchOutput output, AgainstOptions against) {
        this.spec = spec;
        this.output = output;
        this.against = against;
    }

    /** Fails if the options make no sense, with a sentence. */
    public static Plan plan(
            List<RawOperation> operations, List<Long> sizes, List<Integer> regions, List<Integer> sessions) {
        for (RawOperation operation : operations) {
            if (operation.atomic()) {
                throw new IllegalArgumentException(
                        "--op " + operation.text() + ": with --regions it must be read or write");
            }
        }
        for (long size : sizes) {
            if (size < 1 || size > RawRegions.MAX_BYTES) {
                throw new IllegalArgumentException(
                        "--size " + size + ": with --regions it must be from 1 to " + RawRegions.MAX_BYTES + " bytes");
            }
        }
        for (int count : regions) {
            if (count < 1 || count > RawRegions.MAX_REGIONS || Integer.bitCount(count) != 1) {
                throw new IllegalArgumentException(
                        "--regions " + count + ": it must be a power of two from 1 to " + RawRegions.MAX_REGIONS);
            }
        }
        for (int count : sessions) {
            if (count < 1 || count > RawRegions.MAX_SESSIONS) {
                throw new IllegalArgumentException(
                        "--sessions " + count + ": it must be from 1 to " + RawRegions.MAX_SESSIONS);
            }
        }
        return new Plan(operations, sizes, regions.stream().distinct().sorted().toList(), sessions);
    }

    public int run(Plan plan, int turns) throws IOException, InterruptedException {
        output.check();
        against.check(output);
        DeviceNotice.print(spec.commandLine().getErr());
        if (against.wanted()) {
            against.compare(spec, output, ComparedRows.RAW_REGIONS);
            return 0;
        }
        PrintStream out = System.out;
        // The device stays open until all is printed: if it is softverbs, its last close ends an invalid run.
        try (Context device = Devices.open();
                RawRegions contest = new RawRegions(plan.regions(), Collections.max(plan.sessions()));
                ModelLateness lateness = new ModelLateness(contest.addresses())) {
            BenchReport report = output.report(spec, device);
            TimingNote note = new TimingNote(ClockCost.nanos(), false, true);
            note.put(report);
            List<RawRegions.Row> rows = new ArrayList<>();
            for (RawOperation operation : plan.operations()) {
                for (long size : plan.sizes()) {
                    for (int sessions : plan.sessions()) {
                        rows.addAll(contest.measure(operation, (int) size, sessions, turns, lateness));
                    }
                }
            }
            report.origin().forEach(out::println);
            out.printf(
                    "%d addresses at random, the same in all rows; medians of at least %d turns, whose order rotates;%n"
                            + "ns per operation of all sessions; ratio: to %d regions%n%s%n%n",
                    plan.regions().getLast(), turns, plan.regions().getFirst(), note.sentence());
            print(out, rows);
            rows.forEach(row -> put(report.row(), row, report.device()));
            output.write(report, output.plots() ? plots(plan, rows) : new Plot[0]);
        }
        return 0;
    }

    private static void print(PrintStream out, List<RawRegions.Row> rows) {
        out.printf(
                "%-6s%8s%10s%10s%12s%17s%8s%n", "#op", "#bytes", "#sessions", "#regions", "ns", "(25%..75%)", "ratio");
        for (RawRegions.Row row : rows) {
            out.printf(
                    Locale.ROOT,
                    "%-6s%8d%10d%10d%12.1f%17s%8s  %s%n",
                    row.operation().text(),
                    row.size(),
                    row.sessions(),
                    row.regions(),
                    row.nanos().median(),
                    String.format(
                            Locale.ROOT,
                            "(%.1f..%.1f)",
                            row.nanos().low(),
                            row.nanos().high()),
                    Double.isNaN(row.ratio()) ? "-" : String.format(Locale.ROOT, "%.2f", row.ratio()),
                    row.validity().remark(row.settled()));
        }
    }

    private static void put(BenchReport.Row json, RawRegions.Row row, String device) {
        json.put("op", row.operation().text())
                .put("size", row.size())
                .put("regions", row.regions())
                .put("sessions", row.sessions())
                .put("session_p50_ns", row.nanos().median())
                .put("session_p25_ns", row.nanos().low())
                .put("session_p75_ns", row.nanos().high())
                .put("ratio_to_fewest", row.ratio())
                .put("device", device);
        row.validity().put(row.setup().put(json), row.settled());
    }

    /** A plot compares the numbers of regions, so it is of valid rows; none if there are none. */
    private static Plot[] plots(Plan plan, List<RawRegions.Row> rows) {
        if (rows.stream().allMatch(row -> row.validity().invalid())) {
            return new Plot[0];
        }
        Plot plot = Plot.lines("raw-regions", "Access by the regions of one server", "regions", "ns per operation")
                .logarithmicX();
        for (RawOperation operation : plan.operations()) {
            for (int sessions : plan.sessions()) {
                List<RawRegions.Row> some = rows.stream()
                        .filter(row -> row.operation() == operation
                                && row.sessions() == sessions
                                && row.size() == plan.sizes().getFirst()
                                && !row.validity().invalid())
                        .toList();
                if (!some.isEmpty()) {
                    plot.series(
                            operation.text() + ", " + Plurals.of(sessions, "session"),
                            some.stream().mapToDouble(RawRegions.Row::regions).toArray(),
                            some.stream()
                                    .mapToDouble(row -> row.nanos().median())
                                    .toArray());
                }
            }
        }
        return new Plot[] {plot};
    }
}
