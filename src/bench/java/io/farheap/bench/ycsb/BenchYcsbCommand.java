package io.farheap.bench.ycsb;

import io.farheap.bench.machine.ClockCost;
import io.farheap.bench.report.BenchOutput;
import io.farheap.bench.report.BenchReport;
import io.farheap.bench.report.TimingNote;
import io.farheap.command.DeviceNotice;
import io.farheap.command.Durations;
import io.farheap.command.Plot;
import io.farheap.manager.service.MenuFile;
import io.farheap.verbs.Context;
import io.farheap.verbs.Devices;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code farheap bench ycsb}: measures a store that outgrows its memory, beside the usual products. */
@Command(
        name = "ycsb",
        mixinStandardHelpOptions = true,
        description = {
            "A store whose log does not fit into local memory, over far memory, a file and both, beside maps in memory, "
                    + "RocksDB, LMDB, MapDB, Redis and memcached, these two also with their clients in C: in turns, with one "
                    + "set of records. Each row says the local memory, the threads and the operations in flight.",
            "Figure 18: throughput at the paper's share of local memory, uniform and Zipfian keys. 19: local memory from "
                    + "nothing to all of the log. 20: far memory from nothing to all of the log that is not local, resized while it is used.",
            "SOFTVERBS=model=connectx5 in the environment gives far memory the times of a ConnectX-5; operations that the "
                    + "machine is late with are allowed and counted."
        },
        footer = {
            "",
            "./farheap bench ycsb downloads the other contestants' libraries, and installs their servers if it may; a missing contestant is listed as absent."
        })
public final class BenchYcsbCommand implements Callable<Integer> {

    private static final Set<Integer> FIGURES = new TreeSet<>(Set.of(18, 19, 20));
    private static final long MOST_RECORDS = 1L << 32;
    private static final int MOST_THREADS = 64;
    private static final int MOST_VALUE = 1 << 16;
    private static final int LARGE_VALUE = 1024;
    /** Default with values of 8 bytes; with longer values, as many records as make the log about as long. */
    private static final long USUAL_RECORDS = 4_000_000;

    private static final int USUAL_RECORD_BYTES = 24;

    @Option(
            names = "--figure",
            paramLabel = "N",
            split = ",",
            defaultValue = "18",
            description = "18, 19, 20 (default: ${DEFAULT-VALUE})")
    private List<Integer> figures;

    @Option(
            names = "--records",
            paramLabel = "N",
            defaultValue = "0",
            description = "keys (default: 4,000,000 with values of 8 bytes, fewer with longer ones)")
    private long records;

    @Option(
            names = "--value",
            paramLabel = "BYTES",
            defaultValue = "8",
            description = "of each value, a multiple of 8 (default: ${DEFAULT-VALUE})")
    private int value;

    @Option(
            names = "--threads",
            paramLabel = "T",
            split = ",",
            defaultValue = "1,2",
            description = "client threads, each number measured (default: ${DEFAULT-VALUE})")
    private List<Integer> threads;

    @Option(
            names = "--workload",
            paramLabel = "W",
            defaultValue = "C",
            description = "A: half updates; B: 5%% of them; C: reads; D: 5%% inserts, reads of the latest; F: half "
                    + "read-modify-writes. Figure 18 alone (default: ${DEFAULT-VALUE})")
    private YcsbWorkload workload;

    @Option(
            names = "--contestants",
            paramLabel = "NAME",
            split = ",",
            description =
                    "these alone: local, local-1, far, raw, file, file-64, tiered, offheap, hashmap, rocksdb, redis-mget, ... (default: all)")
    private List<String> contestants = List.of();

    @Option(
            names = "--rounds",
            paramLabel = "N",
            defaultValue = "20",
            description =
                    "turns of each that count, after three to five that do not, rounded up to a multiple of the contestants "
                            + "that take turns, so that each has each place equally often (default: ${DEFAULT-VALUE})")
    private int rounds;

    @Option(
            names = "--turn",
            paramLabel = "TIME",
            converter = Durations.class,
            defaultValue = "100ms",
            description = "how long a turn is, after a tenth of it that does not count (default: ${DEFAULT-VALUE})")
    private Duration turn;

    @Option(
            names = "--directory",
            paramLabel = "DIR",
            description = "on the disk that is measured (default: the one for temporary files)")
    private Path directory = Path.of(System.getProperty("java.io.tmpdir"));

    @Option(
            names = "--faster",
            paramLabel = "DIR",
            description = "the folder cc of a checkout of FASTER in C++, which is compiled and takes part")
    private @Nullable Path faster;

    @Option(
            names = "--menu",
            paramLabel = "FILE",
            description =
                    "types of machines and their prices, as a manager's: print the cost of each contestant's memory, and "
                            + "in figure 19 the splits of the log that are worth their price")
    private @Nullable Path menu;

    @Option(
            names = "--client-type",
            paramLabel = "NAME",
            description = "with --menu: of the machine whose memory is local (default: the dearest on the menu)")
    private @Nullable String clientType;

    @Option(
            names = "--want",
            paramLabel = "N",
            split = ",",
            description = "with --menu and figure 19: print the cheapest split that reads N records a second")
    private List<Double> wanted = List.of();

    @Option(names = "--all", description = "figures 18 to 20 with values of 8 bytes and of 1 KB")
    private boolean all;

    @Mixin
    private BenchOutput output;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() throws IOException {
        check();
        MemoryPrices prices = prices();
        DeviceNotice.print(spec.commandLine().getErr());
        BenchReport report;
        try (Context context = Devices.open("")) {
            report = output.report(spec, context);
        }
        PrintStream out = System.out;
        report.origin().forEach(out::println);
        TimingNote note = new TimingNote(ClockCost.nanos(), false, true);
        note.put(report);
        out.println(note.sentence());
        try (YcsbFigures run = new YcsbFigures(report, out, spec.commandLine().getErr(), prices, wanted)) {
            long begun = System.nanoTime();
            for (int bytes : all ? List.of(Long.BYTES, LARGE_VALUE) : List.of(value)) {
                run(run, plan(bytes));
            }
            double seconds = (System.nanoTime() - begun) / 1e9;
            out.printf("%nall of it took %,.0f s%n", seconds);
            report.summary().put("seconds", seconds);
            output.write(report, run.plots().toArray(Plot[]::new));
        }
        return 0;
    }

    private @Nullable MemoryPrices prices() throws IOException {
        if (menu == null) {
            if (clientType != null || !wanted.isEmpty()) {
                throw new IllegalArgumentException((clientType != null ? "--client-type" : "--want")
                        + " is of no use without --menu FILE, which has the prices");
            }
            return null;
        }
        if (!wanted.isEmpty() && !all && !figures.contains(19)) {
            throw new IllegalArgumentException("--want is answered by figure 19: add --figure 19");
        }
        for (double rate : wanted) {
            if (!(rate > 0 && rate < Double.POSITIVE_INFINITY)) {
                throw new IllegalArgumentException("--want " + rate + ": throughputs are above 0");
            }
        }
        return MemoryPrices.of(MenuFile.read(menu), clientType);
    }

    private void run(YcsbFigures run, YcsbPlan plan) throws IOException {
        for (int figure : all ? FIGURES : figures) {
            switch (figure) {
                case 18 -> run.figure18(plan);
                case 19 -> run.figure19(plan);
                default -> run.figure20(plan);
            }
        }
    }

    private YcsbPlan plan(int bytes) {
        DataSet one = new DataSet(1, bytes);
        long count = records > 0 ? records : USUAL_RECORDS * USUAL_RECORD_BYTES / one.recordBytes();
        return new YcsbPlan(
                new DataSet(count, bytes), workload, threads, rounds, turn.toNanos(), directory, contestants, faster);
    }

    private void check() {
        output.check();
        if (!FIGURES.containsAll(figures)) {
            throw new IllegalArgumentException("--figure " + figures + ": they are 18, 19 and 20");
        }
        if (records < 0 || records > MOST_RECORDS || records > 0 && records < 1000) {
            throw new IllegalArgumentException("--records " + records + ": there are 1,000 to " + MOST_RECORDS);
        }
        if (value < Long.BYTES || value > MOST_VALUE || value % Long.BYTES != 0) {
            throw new IllegalArgumentException(
                    "--value " + value + ": values have 8 to " + MOST_VALUE + " bytes, a multiple of 8");
        }
        for (int count : threads) {
            if (count < 1 || count > MOST_THREADS) {
                throw new IllegalArgumentException("--threads " + count + ": there are 1 to " + MOST_THREADS);
            }
        }
        if (rounds < 1 || !turn.isPositive()) {
            throw new IllegalArgumentException("--rounds " + rounds + " --turn " + turn.toMillis()
                    + "ms: there is at least 1 round, and a turn is longer than nothing");
        }
        if (!Files.isDirectory(directory)) {
            throw new IllegalArgumentException("--directory " + directory + ": it is no directory");
        }
    }
}
