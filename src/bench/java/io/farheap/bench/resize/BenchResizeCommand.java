package io.farheap.bench.resize;

import io.farheap.bench.machine.ClockCost;
import io.farheap.bench.report.BenchOutput;
import io.farheap.bench.report.BenchReport;
import io.farheap.bench.report.ModelLateness;
import io.farheap.bench.report.Rotation;
import io.farheap.bench.report.TimingNote;
import io.farheap.cache.Cache;
import io.farheap.command.DeviceNotice;
import io.farheap.command.Durations;
import io.farheap.command.ServerProcess;
import io.farheap.command.Sizes;
import io.farheap.verbs.Devices;
import java.io.IOException;
import java.io.PrintStream;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code farheap bench resize}: measures how a load is affected by a capacity that changes. */
@Command(
        name = "resize",
        mixinStandardHelpOptions = true,
        description = {
            "Let a cache grow and shrink under a load, and measure the effect on the load.",
            "One thread reads, or one writes, 8-byte records at random addresses of the regions that stay, in turns whose order rotates. Each turn has a quiet time, resizes, and "
                    + "another quiet time, as long. The ratio is that of the throughput to the two quiet times' mean; 'same' is the later quiet time "
                    + "over the earlier one, so it shows the noise. Ratios of medians over turns, and the least and most of a turn."
        })
public final class BenchResizeCommand implements Callable<Integer> {

    /** Reads and writes. */
    private static final int LOADS = 2;

    @Option(
            names = "--regions",
            paramLabel = "N",
            defaultValue = "4",
            description = "regions that stay (default: ${DEFAULT-VALUE})")
    private int regions;

    @Option(
            names = "--more",
            paramLabel = "N",
            defaultValue = "2",
            description = "regions that come and go (default: ${DEFAULT-VALUE})")
    private int more;

    @Option(
            names = "--region",
            paramLabel = "SIZE",
            converter = Sizes.class,
            defaultValue = "16m",
            description = "region size (default: ${DEFAULT-VALUE})")
    private long regionBytes;

    @Option(
            names = "--resizes",
            paramLabel = "N",
            defaultValue = "10",
            description = "resizes in a turn, an even number (default: ${DEFAULT-VALUE})")
    private int resizes;

    @Option(
            names = "--every",
            paramLabel = "TIME",
            converter = Durations.class,
            defaultValue = "0s",
            description =
                    "from the beginning of a resize to that of the next; by default one follows the other at once")
    private Duration every;

    @Option(
            names = "--repeat",
            paramLabel = "N",
            defaultValue = "10",
            description =
                    "turns of each load that count, rounded up to an even number, after three to five that do not "
                            + "(default: ${DEFAULT-VALUE})")
    private int repeat;

    @Mixin
    private BenchOutput output;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() throws IOException, InterruptedException {
        check();
        DeviceNotice.print(spec.commandLine().getErr());
        long small = regions * regionBytes;
        long large = (regions + more) * regionBytes;
        BenchReport report;
        try (ServerProcess server = ServerProcess.start(Devices.library(), large, regionBytes);
                Cache cache = Cache.builder()
                        .capacity(small)
                        .servers(server.address())
                        .name("farheap-bench")
                        .create();
                ModelLateness lateness = new ModelLateness(server.address())) {
            report = output.report(spec, cache.context());
            PrintStream out = System.out;
            report.origin().forEach(out::println);
            TimingNote note = new TimingNote(ClockCost.nanos(), false, true);
            note.put(report);
            out.println(note.sentence());
            out.printf(
                    "%n%-8s%9s%20s%9s%20s%16s%22s%20s%n",
                    "load",
                    "ratio",
                    "(least..most)",
                    "same",
                    "(least..most)",
                    "ms a resize",
                    "longest request us",
                    "(quiet)");
            List<ResizeFigures> figures =
                    new ResizeBench(cache, small, large, lateness).run(repeat, resizes, every.toNanos());
            for (int place = 0; place < figures.size(); place++) {
                boolean write = place > 0;
                out.println(figures.get(place).line(write));
                figures.get(place).put(report.row(), write);
            }
        }
        report.summary()
                .put("regions", (long) regions)
                .put("more", (long) more)
                .put("region_bytes", regionBytes)
                .put("resizes", (long) resizes * Rotation.turns(LOADS, repeat))
                .put("every_ms", every.toMillis());
        output.write(report);
        return 0;
    }

    private void check() {
        output.check();
        if (regions < 1 || more < 1 || repeat < 1) {
            throw new IllegalArgumentException(
                    "--regions " + regions + " --more " + more + " --repeat " + repeat + ": each must be at least 1");
        }
        if (resizes < 2 || resizes % 2 != 0) {
            throw new IllegalArgumentException(
                    "--resizes " + resizes + ": it must be an even number, since each growth is taken back");
        }
    }
}
