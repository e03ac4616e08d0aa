package io.farheap.bench.kv.leases;

import io.farheap.bench.report.BenchReport;
import io.farheap.bench.report.Rotation;
import io.farheap.kv.FarMapBuilder;
import java.io.PrintStream;
import java.util.List;

/**
 * Measures maps of both engines beside each other, on two servers of two threads each: by the share of sets, by keys,
 * by the size of values, and with one and two clients, which are a process and a thread each. There is room for all
 * keys. How many clients a server's core can serve is computed from processor times.
 */
public final class EnginesPart {

    private static final long TENTH_NANOS = 100_000_000;
    private static final int USUAL_GETS = 95;
    private static final int USUAL_BYTES = 1000;
    /** So much memory that all keys fit, however they fall. */
    private static final int ROOM = 2;

    private static final int[] OTHER_GETS = {100, 80, 50};
    private static final int[] OTHER_BYTES = {64, 4000};

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
     * @param turns tenths of a second for each play, after as many that are not measured
     * @param plays of each side, at least
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
                        + "%-15s%-9s%8s%8s%9s%10s%10s%10s%14s%12s%14s%14s%8s%n",
                keys,
                "engine",
                "keys",
                "gets %",
                "bytes",
                "clients",
                "hits %",
                "READs",
                "calls",
                "requests/s",
                "CPU ns",
                "server CPU ns",
                "clients/core",
                "ratio");
        measure(workload(true, USUAL_GETS, USUAL_BYTES, 1));
        for (int gets : OTHER_GETS) {
            measure(workload(true, gets, USUAL_BYTES, 1));
        }
        measure(workload(false, USUAL_GETS, USUAL_BYTES, 1));
        for (int bytes : OTHER_BYTES) {
            measure(workload(true, USUAL_GETS, bytes, 1));
        }
        measure(workload(true, USUAL_GETS, USUAL_BYTES, 2));
    }

    private LeaseWorkload workload(boolean zipfian, int gets, int valueBytes, int clients) {
        return new LeaseWorkload(keys, zipfian, gets, valueBytes, ROOM * keys, clients, clients);
    }

    private void measure(LeaseWorkload workload) {
        List<LeaseFigures> figures = List.of(new LeaseFigures(), new LeaseFigures());
        int counted = Rotation.turns(SIDES.size(), plays);
        Rotation rotation = new Rotation(SIDES.size(), counted);
        try (LeaseServerPair servers = new LeaseServerPair(LeaseServerPair.regionBytes(workload.bytes()))) {
            for (int play = 0; play < counted; play++) {
                double[] rates = new double[SIDES.size()];
                for (int side : rotation.order(play)) {
                    LeasePlay played = LeasePlay.of(
                            servers, SIDES.get(side), workload, play + 1L, turns * TENTH_NANOS, false);
                    figures.get(side).add(played);
                    rates[side] = rate(played);
                    figures.get(side).add("clients_per_core", clientsPerCore(played));
                }
                for (int side = 0; side < rates.length; side++) {
                    figures.get(side).add("ratio", rates[side] / rates[rates.length - 1 - side]);
                }
            }
        }
        for (int side = 0; side < SIDES.size(); side++) {
            put(SIDES.get(side), workload, figures.get(side));
        }
    }

    private static double rate(LeasePlay play) {
        return figure(play, "ops_per_s");
    }

    private static double figure(LeasePlay play, String name) {
        return play.figures().getOrDefault(name, Double.NaN);
    }

    /** Returns how many clients keep one core of the servers busy; not a number if they take no time of it. */
    private static double clientsPerCore(LeasePlay play) {
        double server = figure(play, "server_cpu_ns");
        return server > 0 ? figure(play, "cpu_ns") / server : Double.NaN;
    }

    private void put(LeaseSide side, LeaseWorkload workload, LeaseFigures figures) {
        out.printf(
                "%-15s%-9s%8d%8d%9d%10.2f%10.3f%10.3f%,14.0f%,12.0f%,14.0f%14.2f%8.2f%n",
                side.engine(),
                workload.zipfian() ? "zipfian" : "uniform",
                workload.getPercent(),
                workload.valueBytes(),
                workload.processes(),
                figures.median("hit_pct"),
                figures.median("reads"),
                figures.median("calls"),
                figures.median("ops_per_s"),
                figures.median("cpu_ns"),
                figures.median("server_cpu_ns"),
                figures.median("clients_per_core"),
                figures.median("ratio"));
        BenchReport.Row row = report.row().put("part", "engines");
        side.put(row);
        workload.put(row);
        figures.put(row);
    }
}
