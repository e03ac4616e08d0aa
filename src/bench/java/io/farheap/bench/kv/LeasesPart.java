package io.farheap.bench.kv;

import io.farheap.bench.report.BenchReport;
import io.farheap.bench.ycsb.YcsbKeys;
import io.farheap.command.ServerProcess;
import io.farheap.kv.FarMap;
import io.farheap.kv.MapSession;
import io.farheap.kv.contract.MapCounts;
import java.io.PrintStream;
import java.time.Duration;
import java.util.SplittableRandom;

/**
 * Measures by how many of a leased map's gets no server is asked, and what is hit, for terms and numbers of LRU queues
 * beside each other: keys Zipfian, with room for a half of the objects. One process gets, and sets what it misses;
 * another one makes the other sets, so that pointers of the first go stale.
 */
final class LeasesPart {

    private static final int VALUE_BYTES = 1000;
    private static final long TENTH_NANOS = 100_000_000;
    private static final int LOOK_EVERY = 64;
    private static final int MOST_QUEUES = 16;
    /** The longest term is so many times that of queue 1. */
    private static final int LONGEST = 10;

    private static final int[] TERMS = {1, 10, 100, 1000};
    private static final int[] QUEUES = {2, 4, MOST_QUEUES};
    private static final int[] GETS = {100, 95, 90};
    private static final int USUAL_GETS = 95;

    private final BenchReport report;
    private final PrintStream out;
    private final long keys;
    private final int turns;

    /**
     * @param keys that are asked for
     * @param turns tenths of a second for each row, after as many that are not measured
     */
    LeasesPart(BenchReport report, PrintStream out, long keys, int turns) {
        this.report = report;
        this.out = out;
        this.keys = keys;
        this.turns = turns;
    }

    void run() {
        long bytes = BenchMaps.powerOfTwo(keys * (VALUE_BYTES + 200) / 2);
        out.printf(
                "%nleases: %,d keys, Zipfian, values of %,d bytes, in %,d bytes; one request at a time%n%n"
                        + "%-10s%10s%10s%8s%8s%14s%14s%12s%14s%n",
                keys,
                VALUE_BYTES,
                bytes,
                "policy",
                "term ms",
                "longest",
                "queues",
                "gets %",
                "hits %",
                "one READ %",
                "READs/get",
                "requests/s");
        try (ServerProcess server = BenchMaps.server(bytes, bytes)) {
            measure(server, bytes, "none", 0, 0, MOST_QUEUES, USUAL_GETS);
            for (int term : TERMS) {
                measure(server, bytes, "fixed", term, term, MOST_QUEUES, USUAL_GETS);
                for (int queues : QUEUES) {
                    measure(server, bytes, "queues", term, LONGEST * term, queues, USUAL_GETS);
                }
            }
            for (int gets : GETS) {
                if (gets != USUAL_GETS) {
                    measure(
                            server,
                            bytes,
                            "queues",
                            TERMS[TERMS.length - 1],
                            LONGEST * TERMS[TERMS.length - 1],
                            MOST_QUEUES,
                            gets);
                }
            }
        }
    }

    private void measure(
            ServerProcess server, long bytes, String policy, int term, int longest, int queues, int getPercent) {
        FarMap map = BenchMaps.createLeased(
                server, "leases", bytes, keys, Duration.ofMillis(term), Duration.ofMillis(longest), queues);
        try (FarMap other = BenchMaps.open(server, "leases");
                MapCaller reader = new MapCaller(map.openSession(), VALUE_BYTES);
                MapCaller writer = new MapCaller(other.openSession(), VALUE_BYTES)) {
            YcsbKeys drawn = new YcsbKeys(keys, 1);
            SplittableRandom random = new SplittableRandom(1);
            request(reader, writer, drawn, random, getPercent);
            MapCounts before = map.counts();
            long readsBefore = reads(reader.session());
            long begun = System.nanoTime();
            long requests = request(reader, writer, drawn, random, getPercent);
            long nanos = System.nanoTime() - begun;
            MapCounts after = map.counts();
            long hits = after.hits() - before.hits();
            long gets = Math.max(1, hits + after.misses() - before.misses());
            double oneSided = 100.0 * (after.pointerHits() - before.pointerHits()) / Math.max(1, hits);
            double reads = (double) (reads(reader.session()) - readsBefore) / gets;
            double rate = requests * 1e9 / nanos;
            out.printf(
                    "%-10s%,10d%,10d%8d%8d%14.1f%14.1f%12.3f%,14.0f%n",
                    policy, term, longest, queues, getPercent, 100.0 * hits / gets, oneSided, reads, rate);
            report.row()
                    .put("part", "leases")
                    .put("engine", "leased")
                    .put("policy", policy)
                    .put("term_ms", (long) term)
                    .put("longest_ms", (long) longest)
                    .put("queues", (long) queues)
                    .put("get_pct", (long) getPercent)
                    .put("requests", requests)
                    .put("hit_pct", 100.0 * hits / gets)
                    .put("one_sided_pct", oneSided)
                    .put("stale_pct", 100.0 * (after.stalePointers() - before.stalePointers()) / gets)
                    .put("reads", reads)
                    .put("ops_per_s", rate);
        } finally {
            map.drop();
        }
    }

    private static long reads(MapSession session) {
        return session.posted().reads();
    }

    /** Makes requests for as long as a row takes. @return how many */
    private long request(MapCaller reader, MapCaller writer, YcsbKeys drawn, SplittableRandom random, int getPercent) {
        long end = System.nanoTime() + turns * TENTH_NANOS;
        long made = 0;
        do {
            for (int i = 0; i < LOOK_EVERY; i++) {
                long key = drawn.zipfian();
                made++;
                if (random.nextInt(100) >= getPercent) {
                    writer.set(key);
                } else if (!reader.get(key)) {
                    reader.set(key);
                    made++;
                }
            }
        } while (System.nanoTime() - end < 0);
        return made;
    }
}
