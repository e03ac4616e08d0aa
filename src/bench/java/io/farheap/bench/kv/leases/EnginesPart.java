package io.farheap.bench.kv.leases;

import io.farheap.bench.report.BenchReport;
import io.farheap.bench.report.MedianRatio;
import io.farheap.bench.report.Rotation;
import io.farheap.bench.report.Validity;
import io.farheap.kv.FarMapBuilder;
import java.io.PrintStream;
import java.util.Arrays;
import java.util.List;

/**
 * Measures maps of both engines beside each other, on two servers of two threads each: by the share of sets, by the
 * skew of keys, by the size of values, and with one and two clients, which are a process and a thread each. There is
 * room for all keys. Where the engines are equally fast is interpolated, and how many cores of servers a leased map
 * needs is computed from processor times.
 */
public final class EnginesPart {

    private static final long TENTH_NANOS = 100_000_000;
    private static final int USUAL_GETS = 95;
    private static final int USUAL_BYTES = 1000;
    /** The memory of the map over that of all keys, so that they fit however they fall. */
    private static final int ROOM = 2;
    /** If fewer gets hit, a map has evicted although it has room, and rates are not compared. */
    private static final double LEAST_HIT_PERCENT = 99.9;

    // Among these are the usual ones.
    private static final double[] GETS = {100, USUAL_GETS, 80, 50, 20, 0};
    private static final double[] SKEWS = {0, 0.5, 0.8, LeaseWorkload.USUAL_SKEW, 1.2};
    private static final double[] BYTES = {64, USUAL_BYTES, 4000};

    private static final List<LeaseSide> SIDES = List.of(
            LeaseSide.leased(FarMapBuilder.LEASED, 1000, 10_000, LeaseSide.MOST_QUEUES),
            new LeaseSide(FarMapBuilder.DISAGGREGATED, FarMapBuilder.DISAGGREGATED, 0, 0, 0, true, true, false));

    private final BenchReport report;
    private final PrintStream out;
    private final long keys;
    private final int turns;
    private final int plays;

    /**
     * Makes a part, which {@link #run} measures.
     *
     * @param keys that are asked for
     * @param turns tenths of a second in which the rate of each play is measured, after requests that are counted
     * @param plays of each side, at least, after one that does not count
     */
    public EnginesPart(BenchReport report, PrintStream out, long keys, int turns, int plays) {
        this.report = report;
        this.out = out;
        this.keys = keys;
        this.turns = turns;
        this.plays = plays;
    }

    /** Measures both engines at each point. */
    public void run() {
        out.printf(
                "%nengines: %,d keys, for all of which there is room; a client keeps one request under way%n%n"
                        + "%-15s%8s%8s%8s%9s%10s%10s%10s%14s%12s%14s%14s%14s%8s%n",
                keys,
                "engine",
                "skew",
                "gets %",
                "bytes",
                "clients",
                "hits %",
                "READs",
                "calls",
                "requests/s",
                "CPU ns",
                "server CPU ns",
                "of a core/s",
                "cores/client",
                "ratio");
        double usual = measure(workload(LeaseWorkload.USUAL_SKEW, USUAL_GETS, USUAL_BYTES, 1));
        double[] byGets = Arrays.stream(GETS)
                .map(gets -> gets == USUAL_GETS
                        ? usual
                        : measure(workload(LeaseWorkload.USUAL_SKEW, (int) gets, USUAL_BYTES, 1)))
                .toArray();
        double[] bySkew = Arrays.stream(SKEWS)
                .map(skew ->
                        skew == LeaseWorkload.USUAL_SKEW ? usual : measure(workload(skew, USUAL_GETS, USUAL_BYTES, 1)))
                .toArray();
        double[] byBytes = Arrays.stream(BYTES)
                .map(bytes -> bytes == USUAL_BYTES
                        ? usual
                        : measure(workload(LeaseWorkload.USUAL_SKEW, USUAL_GETS, (int) bytes, 1)))
                .toArray();
        measure(workload(LeaseWorkload.USUAL_SKEW, USUAL_GETS, USUAL_BYTES, 2));
        out.printf("%nwhere both are equally fast%n");
        putCrossing("get_pct", GETS, byGets);
        putCrossing("skew", SKEWS, bySkew);
        putCrossing("value_bytes", BYTES, byBytes);
    }

    private LeaseWorkload workload(double skew, int gets, int valueBytes, int clients) {
        return new LeaseWorkload(keys, skew, gets, valueBytes, ROOM * keys, clients, clients);
    }

    /** Measures a point, and returns the leased map's rate over the other one's; not a number if a side misses. */
    private double measure(LeaseWorkload workload) {
        List<LeaseFigures> figures = List.of(new LeaseFigures(), new LeaseFigures());
        int counted = Rotation.turns(SIDES.size(), plays);
        Rotation rotation = new Rotation(SIDES.size(), counted);
        try (LeaseServerPair servers = new LeaseServerPair(LeaseServerPair.regionBytes(workload.bytes()))) {
            // These servers have not compiled their code yet.
            for (LeaseSide side : SIDES) {
                LeasePlay.of(servers, side, workload, 0, TENTH_NANOS, false, false);
            }
            for (int play = 0; play < counted; play++) {
                for (int side : rotation.order(play)) {
                    figures.get(side)
                            .add(LeasePlay.of(
                                    servers, SIDES.get(side), workload, play + 1L, turns * TENTH_NANOS, true, false));
                }
            }
        }
        double leased = figures.getFirst().median("ops_per_s");
        double other = figures.getLast().median("ops_per_s");
        boolean compared = workload.getPercent() == 0
                || figures.stream().allMatch(side -> side.median("hit_pct") >= LEAST_HIT_PERCENT);
        put(SIDES.getFirst(), workload, figures.getFirst(), other, compared);
        put(SIDES.getLast(), workload, figures.getLast(), leased, compared);
        return compared ? leased / other : Double.NaN;
    }

    /**
     * Puts a side of a point.
     *
     * @param other the rate of the other side
     * @param compared whether both sides hit as often as they must
     */
    private void put(LeaseSide side, LeaseWorkload workload, LeaseFigures figures, double other, boolean compared) {
        double rate = figures.median("ops_per_s");
        double ratio = compared ? MedianRatio.ofRates(Validity.NO_MODEL, rate, other) : Double.NaN;
        ServerProjection projected =
                ServerProjection.of(figures.median("server_cpu_ns"), figures.median("server_idle_ns_per_s"), rate);
        // What servers do for the other engine is in the background, and limits no rate.
        double coreRate = side.isLeased() ? projected.coreRate() : Double.NaN;
        double cores = side.isLeased() && compared
                ? projected.coresForClient(rate / workload.processes(), other / workload.processes())
                : Double.NaN;
        out.printf(
                "%-15s%8.2f%8d%8d%9d%10.2f%10.3f%10.3f%,14.0f%,12.0f%,14.0f%,14.0f%14.3f%8.2f%n",
                side.engine(),
                workload.skew(),
                workload.getPercent(),
                workload.valueBytes(),
                workload.processes(),
                figures.median("hit_pct"),
                figures.median("reads"),
                figures.median("calls"),
                rate,
                figures.median("cpu_ns"),
                figures.median("server_cpu_ns"),
                coreRate,
                cores,
                ratio);
        BenchReport.Row row = report.row().put("part", "engines").put("case", "points");
        side.put(row);
        workload.put(row);
        figures.put(row);
        row.put("server_busy_ns", projected.busyNanos())
                .put("core_ops_per_s", coreRate)
                .put("cores_of_client", cores)
                .put("ratio", ratio);
    }

    private void putCrossing(String over, double[] places, double[] ratios) {
        double crossing = EngineCrossing.of(places, ratios);
        out.printf("%-15s%10.2f%n", over, crossing);
        report.row()
                .put("part", "engines")
                .put("case", "crossings")
                .put("over", over)
                .put("first", places[0])
                .put("ratio_first", ratios[0])
                .put("last", places[places.length - 1])
                .put("ratio_last", ratios[ratios.length - 1])
                .put("equal_at", crossing);
    }
}
