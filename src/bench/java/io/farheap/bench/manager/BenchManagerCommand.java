package io.farheap.bench.manager;

import io.farheap.bench.machine.ClockCost;
import io.farheap.bench.machine.ScratchDirectory;
import io.farheap.bench.manager.ManagerBench.Turn;
import io.farheap.bench.report.BenchOutput;
import io.farheap.bench.report.BenchReport;
import io.farheap.bench.report.TimingNote;
import io.farheap.bench.report.TurnWarmUp;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.HdrHistogram.Histogram;
import org.apache.zookeeper.KeeperException;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code farheap bench manager}: measures allocations of a manager that has many servers and caches. */
@Command(
        name = "manager",
        mixinStandardHelpOptions = true,
        description = {
            "Allocations a second by a cache manager with many servers and caches, beside bare writes of its own ZooKeeper.",
            "Manager, embedded ZooKeeper and callers are in this process. The callers ask through gRPC, each for one cache after another. The "
                    + "servers' reports, one of each a second, and the clients' renewals are calls of the manager, without gRPC. The bare writes create "
                    + "nodes of a cache's bytes by ZooKeeper's own client, one in a request with up to 2000 on their way, and 50 in a request with "
                    + "up to 16; the faster way counts. The manager writes as many caches in a request as were asked for meanwhile, with two "
                    + "operations more by which only the leader writes, and one request at a time, while each caller waits for its answer: so "
                    + "the former is nearest to an allocation, and the latter to the manager's requests to ZooKeeper. The order in "
                    + "a turn rotates. Medians, and ratios of medians. For a heap of 1 GiB: ./farheap -Xmx1g bench manager"
        })
public final class BenchManagerCommand implements Callable<Integer> {

    /** A turn has a change of the leader, which takes seconds with many caches. */
    private static final int MOST_WARM_UPS = 4;
    /** How many of the manager's ticks are measured. */
    private static final int TICKS = 200;

    @Option(
            names = "--servers",
            paramLabel = "N",
            defaultValue = "10000",
            description = "memory servers that report (default: ${DEFAULT-VALUE})")
    private int servers;

    @Option(
            names = "--caches",
            paramLabel = "N",
            defaultValue = "100000",
            description = "caches that exist before the turns (default: ${DEFAULT-VALUE})")
    private int caches;

    @Option(
            names = "--clients",
            paramLabel = "N",
            defaultValue = "100",
            description = "client processes that these belong to (default: ${DEFAULT-VALUE})")
    private int clients;

    @Option(
            names = "--callers",
            paramLabel = "N",
            defaultValue = "64",
            description = "threads that ask for caches at the same time (default: ${DEFAULT-VALUE})")
    private int callers;

    @Option(
            names = "--allocations",
            paramLabel = "N",
            defaultValue = "2000",
            description = "allocations, and bare writes, of a turn (default: ${DEFAULT-VALUE})")
    private int allocations;

    @Option(
            names = "--repeat",
            paramLabel = "N",
            defaultValue = "6",
            description =
                    "turns that count, after three or four that do not; a multiple of 6 completes the rotation (default: "
                            + "${DEFAULT-VALUE})")
    private int repeat;

    @Option(
            names = "--data",
            paramLabel = "DIR",
            description =
                    "directory in which ZooKeeper's files get one of their own; its disk affects the figures (default: that "
                            + "of temporary files)")
    private @Nullable Path data;

    @Mixin
    private BenchOutput output;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() throws IOException, InterruptedException, KeeperException {
        output.check();
        for (int number : new int[] {servers, caches, clients, callers, allocations, repeat}) {
            if (number < 1) {
                throw new IllegalArgumentException("--servers " + servers + " --caches " + caches + " --clients "
                        + clients + " --callers " + callers + " --allocations " + allocations + " --repeat " + repeat
                        + ": each must be at least 1");
            }
        }
        if (allocations > caches) {
            throw new IllegalArgumentException("--allocations " + allocations
                    + ": there is room for as many caches as there are, --caches " + caches);
        }
        try (ScratchDirectory directory =
                data == null ? new ScratchDirectory("farheap-bench-") : new ScratchDirectory(data, "farheap-bench-")) {
            output.write(measure(directory.path()));
        }
        return 0;
    }

    private BenchReport measure(Path directory) throws IOException, InterruptedException, KeeperException {
        BenchReport report = output.report(spec);
        PrintStream out = System.out;
        String disk = Files.getFileStore(directory).type();
        long heap = Runtime.getRuntime().maxMemory() >> 20;
        report.origin().forEach(out::println);
        TimingNote note = new TimingNote(ClockCost.nanos(), false, true);
        note.put(report);
        ManagerFigures figures;
        Histogram ticks;
        try (ManagerBench bench = new ManagerBench(directory, servers, caches, clients, callers, repeat)) {
            out.printf(
                    "%d servers, %d caches of %d client processes, %d callers; a cache's record has %d bytes; heap of at most %d MiB; "
                            + "files on %s%n%n",
                    servers, caches, clients, callers, bench.recordBytes(), heap, disk);
            out.printf(
                    "%-6s%15s%17s%20s%20s%16s%17s%n",
                    "turn",
                    "allocations/s",
                    "deallocations/s",
                    "bare writes/s",
                    "50 in a request/s",
                    "ratios",
                    "new leader, ms");
            boolean settled = warmUp(bench, out);
            int cores = Runtime.getRuntime().availableProcessors();
            figures = new ManagerFigures(callers, settled, cores, heap << 20);
            int turns = ManagerBench.turns(repeat);
            for (int turn = 0; turn < turns; turn++) {
                Turn done = bench.turn(turn, allocations);
                double leader = bench.leaderChange();
                print(out, String.valueOf(turn + 1), done, leader);
                figures.add(report.row(), done, leader);
            }
            report.summary().put("record_bytes", (long) bench.recordBytes());
            ticks = bench.ticks(TICKS);
        }
        double tick = ticks.getValueAtPercentile(50) / 1e6;
        double longest = ticks.getMaxValue() / 1e6;
        out.println(figures.line());
        out.println(figures.lines());
        out.printf("a tick of the manager, with the wait for its lock, ms: p50 %.1f, max %.1f%n", tick, longest);
        out.println(note.sentence());
        BenchReport.Row summary = report.summary();
        summary.put("servers", (long) servers)
                .put("caches", (long) caches)
                .put("clients", (long) clients)
                .put("callers", (long) callers)
                .put("reports", "calls of the manager, one of each server a second")
                .put("file_system", disk)
                .put("heap_mib", heap)
                .put("tick_p50_ms", tick)
                .put("tick_max_ms", longest);
        figures.put(summary);
        return report;
    }

    /** @return whether the rates of the three sides agreed in its last three turns */
    private boolean warmUp(ManagerBench bench, PrintStream out) throws InterruptedException, KeeperException {
        TurnWarmUp warmUp = TurnWarmUp.untimed(ManagerBench.SIDES);
        for (int turn = -1; turn >= -MOST_WARM_UPS && warmUp.more(); turn--) {
            Turn done = bench.turn(turn, allocations);
            print(out, "warm", done, bench.leaderChange());
            warmUp.add(0, done.allocationsPerSecond());
            warmUp.add(1, done.zookeeperSingles());
            warmUp.add(2, done.zookeeperMultis());
        }
        return warmUp.settled();
    }

    private static void print(PrintStream out, String turn, Turn done, double leader) {
        out.printf(
                "%-6s%15.0f%17.0f%20.0f%20.0f%10.2f%6.2f%17.0f%n",
                turn,
                done.allocationsPerSecond(),
                done.deallocationsPerSecond(),
                done.zookeeperSingles(),
                done.zookeeperMultis(),
                done.allocationsPerSecond() / done.zookeeperSingles(),
                done.allocationsPerSecond() / done.zookeeperMultis(),
                leader);
    }
}
