package io.farheap.bench;

import io.farheap.bench.MigrationBench.Case;
import io.farheap.bench.MigrationBench.Figures;
import io.farheap.bench.against.AgainstOptions;
import io.farheap.bench.report.BenchOutput;
import io.farheap.bench.report.BenchReport;
import io.farheap.bench.report.Plot;
import io.farheap.cache.Cache;
import io.farheap.command.DeviceNotice;
import io.farheap.command.ServerProcess;
import io.farheap.command.Sizes;
import io.farheap.migration.MigrationOptions;
import io.farheap.migration.Pause;
import io.farheap.verbs.Devices;
import java.io.IOException;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code farheap bench migration}: what a load notices of regions that move (Redy, figures 15 and 16). */
@Command(
        name = "migration",
        mixinStandardHelpOptions = true,
        description = {
            "Move regions under a load, in every way that there is, and measure what the load notices.",
            "One thread reads, and then one writes, 8-byte records at random addresses of all regions; it passes over records of a region that "
                    + "already has its share of requests waiting. Throughput while regions move is compared with that of a quiet time just before; "
                    + "the row with no regions has a quiet time in the migration's place, so it shows the noise. In brackets stands the drop while a "
                    + "memcpy of as many bytes runs instead: what any copy costs the load on this machine. Medians over migrations."
        })
final class BenchMigrationCommand implements Callable<Integer> {

    @Option(
            names = "--regions",
            paramLabel = "N",
            defaultValue = "7",
            description = "regions of the cache (default: ${DEFAULT-VALUE})")
    private int regions;

    @Option(
            names = "--region",
            paramLabel = "SIZE",
            converter = Sizes.class,
            defaultValue = "64m",
            description = "region size (default: ${DEFAULT-VALUE})")
    private long regionBytes;

    @Option(
            names = "--move",
            split = ",",
            paramLabel = "N",
            defaultValue = "1,2,4",
            description = "how many regions move (default: ${DEFAULT-VALUE})")
    private List<Integer> moves;

    @Option(
            names = "--pause",
            split = ",",
            paramLabel = "P",
            defaultValue = "cache,region,chunk",
            description = "what writes wait for: ${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE})")
    private List<Pause> pauses;

    @Option(
            names = "--unpaused-reads",
            arity = "1",
            split = ",",
            paramLabel = "BOOL",
            defaultValue = "true,false",
            description = "whether reads go on from the old copy (default: ${DEFAULT-VALUE})")
    private List<Boolean> unpausedReads;

    @Option(
            names = "--chunk",
            paramLabel = "SIZE",
            converter = Sizes.class,
            description = "chunk size (default: the library's)")
    private Long chunkBytes;

    @Option(
            names = "--window",
            paramLabel = "SIZE",
            converter = Sizes.class,
            description = "how far ahead of the copy writes are held (default: the library's)")
    private Long windowBytes;

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

    private record Result(Case how, Figures reads, Figures writes) {}

    @Override
    public Integer call() throws IOException, InterruptedException {
        checkOptions();
        DeviceNotice.print(spec.commandLine().getErr());
        if (against.wanted()) {
            against.compare(spec, output, ComparedRows.MIGRATION);
            return 0;
        }
        long bytes = regions * regionBytes;
        List<Result> results = new ArrayList<>();
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
            for (Case how : cases()) {
                Result result = new Result(how, bench.run(how, false), bench.run(how, true));
                results.add(result);
                print(out, result);
                add(report, result);
            }
        }
        output.write(report, output.plots() ? plots(results) : new Plot[0]);
        return 0;
    }

    private void checkOptions() {
        output.check();
        against.check(output);
        options();
        if (regions < 1 || repeat < 1) {
            throw new IllegalArgumentException(
                    "--regions " + regions + " --repeat " + repeat + ": both must be at least 1");
        }
        for (int move : moves) {
            if (move < 1 || move > regions) {
                throw new IllegalArgumentException(
                        "--move " + move + ": it must be from 1 to " + regions + ", the cache's regions");
            }
        }
    }

    private MigrationOptions options() {
        MigrationOptions options = MigrationOptions.DEFAULT;
        if (chunkBytes != null) {
            options = options.chunkBytes(Math.toIntExact(chunkBytes));
        }
        return windowBytes == null ? options : options.windowBytes(windowBytes);
    }

    private List<Case> cases() {
        List<Case> cases = new ArrayList<>();
        cases.add(new Case(0, options()));
        for (Pause pause : pauses) {
            for (boolean unpaused : unpausedReads) {
                for (int move : moves) {
                    cases.add(new Case(move, options().pause(pause).unpausedReads(unpaused)));
                }
            }
        }
        return cases;
    }

    private static void print(PrintStream out, Result result) {
        Figures reads = result.reads();
        Figures writes = result.writes();
        boolean none = result.how().move() == 0;
        out.printf(
                "%-8d%-8s%-9s%22s%23s%8s%12s%9.1f%26s%26s%n",
                result.how().move(),
                result.how().name(),
                none ? "" : result.how().options().unpausedReads() ? "go on" : "wait",
                drop(reads),
                drop(writes),
                none ? "" : String.format("%.2f", gib(result)),
                none ? "" : String.format("%.2f", gib(result) / memcpy(result)),
                (reads.totalMillis() + writes.totalMillis()) / 2,
                String.format("%,.0f (%,.0f)", reads.longestMicros(), reads.quietMicros()),
                String.format("%,.0f (%,.0f)", writes.longestMicros(), writes.quietMicros()));
    }

    private static String drop(Figures figures) {
        return String.format("%.1f (%.1f)", figures.dropPercent(), figures.memcpyDropPercent());
    }

    private static double gib(Result result) {
        return (result.reads().gibPerSecond() + result.writes().gibPerSecond()) / 2;
    }

    private static double memcpy(Result result) {
        return (result.reads().memcpyGibPerSecond() + result.writes().memcpyGibPerSecond()) / 2;
    }

    private void add(BenchReport report, Result result) {
        report.row()
                .put("regions", (long) result.how().move())
                .put("unpaused_reads", result.how().options().unpausedReads())
                .put("pause", result.how().name())
                .put("region_bytes", regionBytes)
                .put("chunk_bytes", (long) result.how().options().chunkBytes())
                .put("window_bytes", result.how().options().windowBytes())
                .put("read_drop_pct", result.reads().dropPercent())
                .put("write_drop_pct", result.writes().dropPercent())
                .put("memcpy_read_drop_pct", result.reads().memcpyDropPercent())
                .put("memcpy_write_drop_pct", result.writes().memcpyDropPercent())
                .put("gib_per_s", gib(result))
                .put("memcpy_gib_per_s", memcpy(result))
                .put(
                        "migration_ms",
                        (result.reads().totalMillis() + result.writes().totalMillis()) / 2)
                .put("longest_read_stall_us", result.reads().longestMicros())
                .put("longest_write_pause_us", result.writes().longestMicros())
                .put("worst_read_stall_us", result.reads().worstMicros())
                .put("worst_write_pause_us", result.writes().worstMicros())
                .put("quiet_read_stall_us", result.reads().quietMicros())
                .put("quiet_write_stall_us", result.writes().quietMicros())
                .put("reads_per_s", result.reads().perSecond())
                .put("writes_per_s", result.writes().perSecond());
    }

    private Plot[] plots(List<Result> results) {
        Plot reads =
                Plot.bars("migration-reads", "Reads while regions move", "regions that move", "throughput drop, %");
        Plot writes =
                Plot.bars("migration-writes", "Writes while regions move", "regions that move", "throughput drop, %");
        Plot pauses = Plot.bars("migration-pauses", "The longest time that a write waited", "regions that move", "us");
        List<String> categories = moves.stream().map(String::valueOf).toList();
        Map<String, List<Result>> series = new LinkedHashMap<>();
        for (Result result : results) {
            if (result.how().move() > 0) {
                series.computeIfAbsent(title(result.how()), ignored -> new ArrayList<>())
                        .add(result);
            }
        }
        series.forEach((title, of) -> {
            reads.series(
                    title,
                    categories,
                    of.stream().map(result -> result.reads().dropPercent()).toList());
            writes.series(
                    title,
                    categories,
                    of.stream().map(result -> result.writes().dropPercent()).toList());
            pauses.series(
                    title,
                    categories,
                    of.stream().map(result -> result.writes().longestMicros()).toList());
        });
        return new Plot[] {reads, writes, pauses.logarithmicY()};
    }

    private static String title(Case how) {
        return "writes wait for the " + how.name() + (how.options().unpausedReads() ? "" : ", reads too");
    }
}
