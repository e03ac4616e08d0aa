package io.farheap.bench.peers;

import io.farheap.bench.machine.ClockCost;
import io.farheap.bench.report.BenchOutput;
import io.farheap.bench.report.BenchReport;
import io.farheap.bench.report.TimingNote;
import io.farheap.command.DeviceNotice;
import io.farheap.command.Durations;
import io.farheap.command.Plot;
import io.farheap.command.ServerProcess;
import io.farheap.command.Sizes;
import io.farheap.verbs.Context;
import io.farheap.verbs.Devices;
import java.io.PrintStream;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code farheap bench peers}: measures Farheap beside the products that a user would choose today. */
@Command(
        name = "peers",
        mixinStandardHelpOptions = true,
        description =
                "One value, put and got by one thread: a session beside Redis, memcached, a file, UCX, perftest and local memory, taking turns.",
        footer = {
            "",
            "The servers run on this host, as children of this process. ./farheap bench peers installs the servers that it can; the others are listed as absent."
        })
public final class BenchPeersCommand implements Callable<Integer> {

    private static final long MAX_BYTES = 1 << 20;
    /** A region for each peer that uses the server, and a spare one. */
    private static final long SERVER_BYTES = 3 * MAX_BYTES;

    /** The least value that is plotted: a logarithmic axis has no 0. */
    private static final double LEAST_NANOS = 0.1;

    @Option(
            names = "--op",
            split = ",",
            paramLabel = "OP",
            defaultValue = "get,put",
            description = "get, put (default: ${DEFAULT-VALUE})")
    private List<PeerOperation> operations;

    @Option(
            names = "--size",
            split = ",",
            paramLabel = "BYTES",
            converter = Sizes.class,
            defaultValue = "8,64,4096",
            description = "value sizes, up to 1m (default: ${DEFAULT-VALUE})")
    private List<Long> sizes;

    @Option(
            names = "--rounds",
            paramLabel = "N",
            defaultValue = "10",
            description =
                    "how often each takes its turn, rounded up to a multiple of the peers, so that each has each place "
                            + "equally often; after three to five that do not count (default: ${DEFAULT-VALUE})")
    private int rounds;

    @Option(
            names = "--turn",
            paramLabel = "TIME",
            converter = Durations.class,
            defaultValue = "50ms",
            description = "how long a turn is (default: ${DEFAULT-VALUE})")
    private Duration turn;

    @Option(
            names = "--directory",
            paramLabel = "DIR",
            description = "on the disk that is measured (default: the one for temporary files)")
    private Path directory = Path.of(System.getProperty("java.io.tmpdir"));

    @Mixin
    private BenchOutput output;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() throws Exception {
        checkOptions();
        DeviceNotice.print(spec.commandLine().getErr());
        BenchReport report;
        try (Context context = Devices.open()) {
            report = output.report(spec, context);
        }
        PeersBench bench =
                new PeersBench(operations, sizes.stream().map(Long::intValue).toList());
        TimingNote note = new TimingNote(ClockCost.nanos(), false, true);
        note.put(report);
        // A median of operations that are timed one by one is less the clock's cost; a 99th percentile includes it.
        report.summary().put("clock_subtracted_from_medians", true);
        try (ServerProcess server = ServerProcess.start(Devices.library(), SERVER_BYTES, MAX_BYTES)) {
            bench.run(directory, server.address(), rounds, turn.toNanos(), done -> spec.commandLine()
                    .getErr()
                    .printf("%s%n", done)
                    .flush());
        }
        print(System.out, report, note, bench);
        write(report, bench);
        return 0;
    }

    private void checkOptions() {
        output.check();
        for (long size : sizes) {
            if (size < 1 || size > MAX_BYTES) {
                throw new IllegalArgumentException("--size " + size + ": it must be from 1 to " + MAX_BYTES + " bytes");
            }
        }
        if (rounds < 1) {
            throw new IllegalArgumentException("--rounds " + rounds + ": it must be at least 1");
        }
        if (!turn.isPositive()) {
            throw new IllegalArgumentException("--turn: it must be longer than nothing");
        }
    }

    private void print(PrintStream out, BenchReport report, TimingNote note, PeersBench bench) {
        out.println(String.join(System.lineSeparator(), report.origin()));
        out.printf(
                "one thread, one value, one operation after another unless more are in flight; medians of at least %d turns,"
                        + " ns%n%s%n",
                rounds, note.sentence());
        List<PeersBench.Row> rows = bench.rows();
        PeersBench.Row last = null;
        for (PeersBench.Row row : rows) {
            if (last == null || row.operation() != last.operation() || row.bytes() != last.bytes()) {
                out.printf(
                        "%n%-30s%14s%28s%16s%14s%12s%8s%n",
                        row.operation() + " of " + String.format("%,d", row.bytes()) + " bytes",
                        "median",
                        "(25%..75%)",
                        "p99",
                        "of Farheap's",
                        "in flight",
                        "cores");
                last = row;
            }
            out.printf(
                    "%-30s%,14.1f%28s%,16.1f%14s%12d%8d  %s%n",
                    row.peer(),
                    row.nanos().median(),
                    String.format(
                            "(%,.1f..%,.1f)", row.nanos().low(), row.nanos().high()),
                    row.p99(),
                    ratio(row.ratio(farheap(rows, row))),
                    row.means().inFlight(),
                    row.means().cores(),
                    row.validity().remark(row.settled()));
        }
        bench.absent().forEach((peer, reason) -> out.printf("%nabsent: %s: %s%n", peer, reason));
    }

    private void write(BenchReport report, PeersBench bench) {
        List<PeersBench.Row> rows = bench.rows();
        for (PeersBench.Row row : rows) {
            row.put(report.row(), farheap(rows, row));
        }
        bench.absent().forEach((peer, reason) -> report.row().put("peer", peer).put("absent", reason));
        output.write(
                report,
                operations.stream()
                        .map(operation -> plot(operation, bench.names(), rows))
                        .toArray(Plot[]::new));
    }

    /** A plot compares the peers, so it is of valid rows. */
    private Plot plot(PeerOperation operation, List<String> peers, List<PeersBench.Row> rows) {
        Plot plot = Plot.bars(
                        "peers-" + operation,
                        "One " + operation + " after another, from one Java thread",
                        "",
                        "median, ns")
                .logarithmicY();
        for (long size : sizes) {
            List<Double> medians = new ArrayList<>();
            for (String peer : peers) {
                medians.add(rows.stream()
                        .filter(row -> row.operation() == operation
                                && row.bytes() == size
                                && !row.validity().invalid()
                                && row.peer().equals(peer))
                        .map(row -> Math.max(row.nanos().median(), LEAST_NANOS))
                        .findFirst()
                        .orElse(null));
            }
            plot.series(Sizes.format(size), peers, medians);
        }
        return plot;
    }

    private static PeersBench.@Nullable Row farheap(List<PeersBench.Row> rows, PeersBench.Row row) {
        return PeersBench.farheap(rows, row.operation(), row.bytes());
    }

    private static String ratio(double value) {
        return Double.isNaN(value) ? "-" : String.format("%,.2f", value);
    }
}
