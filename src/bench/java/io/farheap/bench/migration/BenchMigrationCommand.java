package io.farheap.bench.migration;

import io.farheap.bench.against.AgainstOptions;
import io.farheap.bench.against.ComparedRows;
import io.farheap.bench.machine.ClockCost;
import io.farheap.bench.machine.Memcpy;
import io.farheap.bench.move.MoveFigures;
import io.farheap.bench.move.MoveOptions;
import io.farheap.bench.move.MovePlots;
import io.farheap.bench.report.BenchOutput;
import io.farheap.bench.report.BenchReport;
import io.farheap.bench.report.ModelLateness;
import io.farheap.bench.report.TimingNote;
import io.farheap.cache.Cache;
import io.farheap.command.DeviceNotice;
import io.farheap.command.Plot;
import io.farheap.command.ServerProcess;
import io.farheap.verbs.Devices;
import java.io.IOException;
import java.io.PrintStream;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code farheap bench migration}: measures how a load is affected by regions that move (Redy, figures 15 and 16). */
@Command(
        name = "migration",
        mixinStandardHelpOptions = true,
        description = {
            "Move regions under a load, in every way that there is, and measure the effect on the load.",
            "One thread reads, and then one writes, 8-byte records at random addresses of all regions; it passes over records of a region that "
                    + "already has its share of requests waiting. Throughput while regions move is compared with that of a quiet time of the same turn; "
                    + "the row with no regions has a quiet time in the migration's place, so it shows the noise. In brackets stands the drop while a "
                    + "memcpy runs instead, which is the cost of any copy on this machine; it is repeated for 200 ms at least. Forgone are the requests that a quiet time "
                    + "as long as the migration has more; in brackets, how many times as many as a memcpy of as many bytes costs. GiB/s and 'of memcpy' are of the "
                    + "whole migration; 'copy' is of its copy alone. Medians over migrations; all cases take turns under both loads, and "
                    + "the order of cases, and in a turn, rotates."
        })
public final class BenchMigrationCommand implements Callable<Integer> {

    @Mixin
    private MoveOptions move;

    @Option(
            names = "--repeat",
            paramLabel = "N",
            defaultValue = "6",
            description = "migrations of each case; a multiple of 6 completes the rotation (default: ${DEFAULT-VALUE})")
    private int repeat;

    @Mixin
    private BenchOutput output;

    @Mixin
    private AgainstOptions against;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() throws IOException, InterruptedException {
        checkOptions();
        DeviceNotice.print(spec.commandLine().getErr());
        if (against.wanted()) {
            against.compare(spec, output, ComparedRows.MIGRATION);
            return 0;
        }
        long bytes = move.bytes();
        long regionBytes = move.regionBytes();
        MovePlots plots = new MovePlots();
        try (ServerProcess home = ServerProcess.start(Devices.library(), bytes, regionBytes);
                ServerProcess spare = ServerProcess.start(Devices.library(), bytes, regionBytes);
                Cache cache = Cache.builder()
                        .capacity(bytes)
                        .servers(home.address())
                        .name("farheap-bench")
                        .create();
                Memcpy memcpy = new Memcpy(regionBytes);
                ModelLateness lateness = new ModelLateness(home.address(), spare.address())) {
            cache.addServer(spare.address());
            BenchReport report = output.report(spec, cache.context());
            TimingNote note = new TimingNote(ClockCost.nanos(), false, true);
            note.put(report);
            MigrationBench bench = new MigrationBench(cache, home.address(), spare.address(), memcpy, lateness, repeat);
            PrintStream out = System.out;
            report.origin().forEach(out::println);
            out.println(note.sentence());
            out.printf(
                    "%n%-8s%-8s%-9s%22s%23s%20s%20s%8s%8s%12s%9s%26s%26s%n",
                    "regions",
                    "pause",
                    "reads",
                    "read drop % (memcpy)",
                    "write drop % (memcpy)",
                    "forgone reads (x)",
                    "forgone writes (x)",
                    "copy",
                    "GiB/s",
                    "of memcpy",
                    "ms",
                    "longest read us (quiet)",
                    "longest write us (quiet)");
            for (MigrationBench.Result result : bench.run(move.cases())) {
                plots.add(result.how(), result.reads(), result.writes());
                print(out, result);
                MoveFigures.row(report, result.how(), regionBytes, result.reads(), result.writes())
                        .put("first_migration_ms", result.firstMillis());
            }
            // Before the cache closes its device: if it is softverbs, its last close ends an invalid run.
            output.write(report, output.plots() ? plots.plots("migration", "regions move") : new Plot[0]);
        }
        return 0;
    }

    private void checkOptions() {
        output.check();
        against.check(output);
        if (repeat < 1) {
            throw new IllegalArgumentException("--repeat " + repeat + ": it must be at least 1");
        }
        move.check();
    }

    private static void print(PrintStream out, MigrationBench.Result result) {
        MoveFigures reads = result.reads();
        MoveFigures writes = result.writes();
        boolean none = result.how().move() == 0;
        out.printf(
                "%-8d%-8s%-9s%22s%23s%20s%20s%8s%8s%12s%9.1f%26s%26s  %s%n",
                result.how().move(),
                result.how().name(),
                result.how().reads(),
                drop(reads),
                drop(writes),
                forgone(reads),
                forgone(writes),
                none ? "" : String.format("%.2f", MoveFigures.gib(reads, writes)),
                none ? "" : String.format("%.2f", MoveFigures.wholeGib(reads, writes)),
                none ? "" : number("%.2f", MoveFigures.wholeOverMemcpy(reads, writes)),
                MoveFigures.millis(reads, writes),
                String.format("%,.0f (%,.0f)", reads.longestMicros(), reads.quietMicros()),
                String.format("%,.0f (%,.0f)", writes.longestMicros(), writes.quietMicros()),
                MoveFigures.remark(reads, writes));
    }

    private static String drop(MoveFigures figures) {
        return number("%.1f", figures.dropPercent()) + " (" + number("%.1f", figures.memcpyDropPercent()) + ")";
    }

    private static String forgone(MoveFigures figures) {
        return String.format("%,.0f", figures.forgone()) + " (" + number("%.1f", figures.forgoneOverMemcpy()) + ")";
    }

    private static String number(String format, double value) {
        return Double.isNaN(value) ? "-" : String.format(format, value);
    }
}
