package io.farheap.bench.manager;

import io.farheap.bench.machine.ScratchDirectory;
import io.farheap.bench.manager.ManagerBench.Turn;
import io.farheap.bench.report.BenchOutput;
import io.farheap.bench.report.BenchReport;
import io.farheap.bench.report.Samples;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
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
                    + "the former is nearest to an allocation, and the latter to the manager's requests to ZooKeeper. Turns are "
                    + "interleaved; medians. For a heap of 1 GiB: ./farheap -Xmx1g bench manager"
        })
public final class BenchManagerCommand implements Callable<Integer> {

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
            defaultValue = "5",
            description = "turns that count, after one that does not (default: ${DEFAULT-VALUE})")
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
        Samples allocated = new Samples();
        Samples deallocated = new Samples();
        Samples reports = new Samples();
        Samples together = new Samples();
        Samples single = new Samples();
        Samples multi = new Samples();
        Samples written = new Samples();
        Samples ratio = new Samples();
        Samples singleRatio = new Samples();
        Samples change = new Samples();
        Histogram nanos = new Histogram(3);
        try (ManagerBench bench = new ManagerBench(directory, servers, caches, clients, callers)) {
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
            for (int turn = 0; turn <= repeat; turn++) {
                Turn done = bench.turn(allocations);
                double leader = bench.leaderChange();
                out.printf(
                        "%-6s%15.0f%17.0f%20.0f%20.0f%10.2f%6.2f%17.0f%n",
                        turn == 0 ? "warm" : String.valueOf(turn),
                        done.allocationsPerSecond(),
                        done.deallocationsPerSecond(),
                        done.zookeeperSingles(),
                        done.zookeeperMultis(),
                        done.allocationsPerSecond() / done.zookeeperSingles(),
                        done.allocationsPerSecond() / done.zookeeperMultis(),
                        leader);
                if (turn > 0) {
                    report.row()
                            .put("allocations_per_s", done.allocationsPerSecond())
                            .put("deallocations_per_s", done.deallocationsPerSecond())
                            .put("caches_per_write", done.cachesPerWrite())
                            .put("reports_per_s", done.reportsPerSecond())
                            .put("zookeeper_single_writes_per_s", done.zookeeperSingles())
                            .put("zookeeper_multi_writes_per_s", done.zookeeperMultis())
                            .put("leader_change_ms", leader);
                    singleRatio.add(done.allocationsPerSecond() / done.zookeeperSingles());
                    allocated.add(done.allocationsPerSecond());
                    deallocated.add(done.deallocationsPerSecond());
                    reports.add(done.reportsPerSecond());
                    together.add(done.cachesPerWrite());
                    single.add(done.zookeeperSingles());
                    multi.add(done.zookeeperMultis());
                    written.add(done.zookeeperWrites());
                    ratio.add(done.allocationsPerSecond() / done.zookeeperWrites());
                    change.add(leader);
                    nanos.add(done.nanos());
                }
            }
            report.summary().put("record_bytes", (long) bench.recordBytes());
        }
        out.printf(
                "median%15.0f%17.0f%20.0f%20.0f%16.2f%17.0f%n",
                allocated.median(),
                deallocated.median(),
                single.median(),
                multi.median(),
                ratio.median(),
                change.median());
        out.printf(
                "an allocation, ms: p50 %.1f, p99 %.1f, p99.9 %.1f, max %.1f; meanwhile %.0f reports/s of servers; %.1f caches in a write of "
                        + "the manager%n",
                millis(nanos, 50),
                millis(nanos, 99),
                millis(nanos, 99.9),
                nanos.getMaxValue() / 1e6,
                reports.median(),
                together.median());
        BenchReport.Row summary = report.summary();
        summary.put("servers", (long) servers)
                .put("caches", (long) caches)
                .put("clients", (long) clients)
                .put("callers", (long) callers)
                .put("reports", "calls of the manager, one of each server a second")
                .put("file_system", disk)
                .put("heap_mib", heap)
                .put("zookeeper_writes", single.median() >= multi.median() ? "one in a request" : "50 in a request")
                .put("allocation_p50_ms", millis(nanos, 50))
                .put("allocation_p99_ms", millis(nanos, 99))
                .put("allocation_p999_ms", millis(nanos, 99.9))
                .put("allocation_max_ms", nanos.getMaxValue() / 1e6);
        for (Spread spread : List.of(
                new Spread("allocations_per_s", allocated),
                new Spread("deallocations_per_s", deallocated),
                new Spread("caches_per_write", together),
                new Spread("reports_per_s", reports),
                new Spread("zookeeper_writes_per_s", written),
                new Spread("zookeeper_single_writes_per_s", single),
                new Spread("zookeeper_multi_writes_per_s", multi),
                new Spread("ratio", ratio),
                new Spread("single_ratio", singleRatio),
                new Spread("leader_change_ms", change))) {
            summary.put(spread.name, spread.samples.median())
                    .put(spread.name + "_least", spread.samples.least())
                    .put(spread.name + "_most", spread.samples.most());
        }
        return report;
    }

    private record Spread(String name, Samples samples) {}

    private static double millis(Histogram nanos, double percentile) {
        return nanos.getValueAtPercentile(percentile) / 1e6;
    }
}
