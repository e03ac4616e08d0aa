package io.farheap.bench.migration;

import io.farheap.bench.against.AgainstOptions;
import io.farheap.bench.against.ComparedRows;
import io.farheap.bench.machine.Memcpy;
import io.farheap.bench.move.MoveCase;
import io.farheap.bench.move.MoveFigures;
import io.farheap.bench.move.MoveOptions;
import io.farheap.bench.move.MovePlots;
import io.farheap.bench.report.BenchOutput;
import io.farheap.bench.report.BenchReport;
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
                    + "already has its share of requests waiting. Throughput while regions move is compared with that of a quiet time just before; "
                    + "the row with no regions has a quiet time in the migration's place, so it shows the noise. In brackets stands the drop while a "
                    + "memcpy of as many bytes runs instead, which is the cost of any copy on this machine. Medians over migrations."
        })
public final class BenchMigrationCommand implements Callable<Integer> {

    @Mixin
    private MoveOptions move;

    @Option(
            names = "--repeat",
            paramLabel = "N",
            defaultValue = "5",
            description = "migrations of each case (default: ${DEFAULT-VALUE})")
    private int repeat;

    @Mixin
    private BenchOutput output;

    @Mixin
    private AgainstOptions against;

    @Spec
    private CommandSpec spec;

    private record Result(MoveCase how, MoveFigures reads, MoveFigures writes) {}

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
        BenchReport report;
        try (ServerProcess home = ServerProcess.start(Devices.library(), bytes, regionBytes);
                ServerProcess spare = ServerProcess.start(Devices.library(), bytes, regionBytes);
                Cache cache = Cache.builder()
                        .capacity(bytes)
                        .servers(home.address())
                        .name("farheap-bench")
                        .create();
                Memcpy memcpy = new Memcpy(regionBytes)) {
            cache.addServer(spare.address());
            report = output.report(spec, cache.context());
            MigrationBench bench = new MigrationBench(cache, home.address(), spare.address(), memcpy, repeat);
            PrintStream out = System.out;
            report.origin().forEach(out::println);
            out.printf(
                    "%n%-8s%-8s%-9s%22s%23s%8s%12s%9s%26s%26s%n",
                    "regions",
                    "pause",
                    "reads",
                    "read drop % (memcpy)",
                    "write drop % (memcpy)",
                    "GiB/s",
                    "of memcpy",
                    "ms",
                    "longest read us (quiet)",
                    "longest write us (quiet)");
            for (MoveCase how : move.cases()) {
                Result result = new Result(how, bench.run(how, false), bench.run(how, true));
                plots.add(how, result.reads(), result.writes());
                print(out, result);
                MoveFigures.row(report, how, regionBytes, result.reads(), result.writes());
            }
        }
        output.write(report, output.plots() ? plots.plots("migration", "regions move") : new Plot[0]);
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

    private static void print(PrintStream out, Result result) {
        MoveFigures reads = result.reads();
        MoveFigures writes = result.writes();
        boolean none = result.how().move() == 0;
        out.printf(
                "%-8d%-8s%-9s%22s%23s%8s%12s%9.1f%26s%26s%n",
                result.how().move(),
                result.how().name(),
                result.how().reads(),
                drop(reads),
                drop(writes),
                none ? "" : String.format("%.2f", gib(result)),
                none ? "" : String.format("%.2f", gib(result) / memcpy(result)),
                MoveFigures.millis(reads, writes),
                String.format("%,.0f (%,.0f)", reads.longestMicros(), reads.quietMicros()),
                String.format("%,.0f (%,.0f)", writes.longestMicros(), writes.quietMicros()));
    }

    private static String drop(MoveFigures figures) {
        return String.format("%.1f (%.1f)", figures.dropPercent(), figures.memcpyDropPercent());
    }

    private static double gib(Result result) {
        return MoveFigures.gib(result.reads(), result.writes());
    }

    private static double memcpy(Result result) {
        return MoveFigures.memcpyGib(result.reads(), result.writes());
    }
}
