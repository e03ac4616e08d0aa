package io.farheap.bench.kv;

import io.farheap.bench.peers.PeerOperation;
import io.farheap.bench.peers.PeersBench;
import io.farheap.bench.report.BenchReport;
import io.farheap.bench.report.ModelLateness;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.List;

/**
 * Measures Redis and memcached beside a map, in turns: one client gets and sets one pair of 256 bytes, one request
 * after another, through the usual Java client of each. A request of these two is a message to the server's process and
 * its answer.
 */
final class KvPeers {

    /** The map in turns with the peers; the other part of its row is {@code disaggregated}, beside a bare loop. */
    static final String MAP = "map beside peers";

    private static final long TURN_NANOS = 100_000_000;

    private final BenchReport report;
    private final PrintStream out;
    private final int turns;
    private final long turnNanos;

    /** @param turns of each peer, at least, of 0.1 s */
    KvPeers(BenchReport report, PrintStream out, int turns) {
        this(report, out, turns, TURN_NANOS);
    }

    KvPeers(BenchReport report, PrintStream out, int turns, long turnNanos) {
        this.report = report;
        this.out = out;
        this.turns = turns;
        this.turnNanos = turnNanos;
    }

    void run() {
        run(Path.of(System.getProperty("java.io.tmpdir")), new MapPeer(BenchMaps.VALUE_BYTES));
    }

    /**
     * @param parent of the directory that peers use
     * @param map closed in any case
     */
    void run(Path parent, MapPeer map) {
        PeersBench bench =
                new PeersBench(List.of(PeerOperation.GET, PeerOperation.PUT), List.of(BenchMaps.VALUE_BYTES));
        try {
            // The peers close the map, too, once they have it.
            try (map;
                    ModelLateness lateness = new ModelLateness(map.address())) {
                bench.runCaches(parent, turns, turnNanos, MAP, map, lateness);
            }
        } catch (RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new IllegalStateException("Redis or memcached failed: " + e.getMessage(), e);
        }
        out.printf("%n%-26s%-12s%16s%26s%14s%n", "peers", "operation", "p50 ns", "(25%..75% of turns)", "p99");
        bench.rows().forEach(this::put);
        bench.absent().forEach((peer, reason) -> {
            out.printf("absent: %s: %s%n", peer, reason);
            report.row()
                    .put("part", "messages")
                    .put("engine", peer)
                    .put("operation", "absent")
                    .put("absent", reason);
        });
    }

    /** Prints a row, and adds it to the report; it has no times if it is invalid. */
    void put(PeersBench.Row row) {
        String operation = row.operation() == PeerOperation.GET ? "get-hit" : "set-update";
        double median = row.validity().compared(row.nanos().median());
        double low = row.validity().compared(row.nanos().low());
        double high = row.validity().compared(row.nanos().high());
        double p99 = row.validity().compared(row.p99());
        out.printf(
                "%-26s%-12s%,16.0f%26s%,14.0f   %s%n",
                row.peer(),
                operation,
                median,
                String.format("(%,.0f..%,.0f)", low, high),
                p99,
                row.validity().remark(row.settled()));
        BenchReport.Row added = report.row()
                .put("part", "messages")
                .put("engine", row.peer())
                .put("workload", "one key")
                .put("operation", operation)
                .put("sessions", 1L);
        if (!row.peer().equals(MAP)) {
            added.put("reads", 0L).put("writes", 0L).put("cas", 0L).put("faa", 0L);
        }
        added.put("calls", row.peer().equals(MAP) ? 0L : 1L)
                .put("p50_ns", median)
                .put("p25_ns", low)
                .put("p75_ns", high)
                .put("p99_ns", p99);
        row.validity().put(row.means().put(added, row.bytes()), row.settled());
    }
}
