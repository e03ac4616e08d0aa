package io.farheap.bench.peers;

import io.farheap.bench.report.BenchOutput;
import io.farheap.bench.report.BenchReport;
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
            defaultValue = "15",
            description = "how often each takes its turn (default: ${DEFAULT-VALUE})")
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
        int all = PeersBench.rounds(rounds);
        try (ServerProcess server = ServerProcess.start(Devices.library(), SERVER_BYTES, MAX_BYTES)) {
            bench.run(directory, server.address(), rounds, turn.toNanos(), done -> spec.commandLine()
                    .getErr()
                    .printf("round %d of %d%n", done, all)
                    .flush());
        }
        print(System.out, report, bench);
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

    private void print(PrintStream out, BenchReport report, PeersBench bench) {
        out.println(String.join(System.lineSeparator(), report.origin()));
        out.printf(
                "one thread, one value, one operation after another unless more are in flight; medians of %d turns,"
                        + " ns%n",
                rounds);
        List<PeersBench.Row> rows = bench.rows();
        PeersBench.Row last = null;
        for (PeersBench.Row row : rows) {
            if (last == null || row.operation() != last.operation() || row.bytes() != last.bytes()) {
                out.printf(
                        "%n%-30s%14s%28s%16s%14s%12s%n",
                        row.operation() + " of " + String.format("%,d", row.bytes()) + " bytes",
                        "median",
                        "(25%..75%)",
                        "p99",
                        "of Farheap's",
                        "in flight");
                last = row;
            }
            out.printf(
                    "%-30s%,14.1f%28s%,16.1f%,14.2f%12d%n",
                    row.peer(),
                    row.p50(),
                    String.format("(%,.1f..%,.1f)", row.p25(), row.p75()),
                    row.p99(),
                    ratio(rows, row),
                    row.means().inFlight());
        }
        bench.absent().forEach((peer, reason) -> out.printf("%nabsent: %s: %s%n", peer, reason));
    }

    private void write(BenchReport report, PeersBench bench) {
        List<PeersBench.Row> rows = bench.rows();
        for (PeersBench.Row row : rows) {
            report.row()
                    .put("op", row.operation().toString())
                    .put("size", row.bytes())
                    .put("peer", row.peer())
                    .put("p50_ns", row.p50())
                    .put("p25_ns", row.p25())
                    .put("p75_ns", row.p75())
                    .put("p99_ns", row.p99())
                    .put("ratio_to_farheap", ratio(rows, row))
                    .put("turns", row.turns())
                    .put("bytes_local", row.means().bytesLocal(row.bytes()))
                    .put("in_flight", row.means().inFlight())
                    .put("threads", row.means().threads())
                    .put("group", row.means().group());
        }
        bench.absent().forEach((peer, reason) -> report.row().put("peer", peer).put("absent", reason));
        output.write(
                report,
                operations.stream()
                        .map(operation -> plot(operation, bench.names(), rows))
                        .toArray(Plot[]::new));
    }

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
                                && row.peer().equals(peer))
                        .map(row -> Math.max(row.p50(), LEAST_NANOS))
                        .findFirst()
                        .orElse(null));
            }
            plot.series(Sizes.format(size), peers, medians);
        }
        return plot;
    }

    /** Returns NaN for a row that has more operations under way: the ratio would compare depths and not peers. */
    private static double ratio(List<PeersBench.Row> rows, PeersBench.Row row) {
        PeersBench.Row farheap = PeersBench.farheap(rows, row.operation(), row.bytes());
        return farheap == null || !row.means().single() ? Double.NaN : row.p50() / farheap.p50();
    }
}
