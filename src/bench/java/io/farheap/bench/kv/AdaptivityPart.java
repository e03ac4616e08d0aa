package io.farheap.bench.kv;

import io.farheap.bench.report.BenchReport;
import io.farheap.command.Plot;
import io.farheap.command.ServerProcess;
import io.farheap.kv.FarMap;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Measures how well a map adapts to its load (Ditto, figures 4, 5, 19 to 22): four phases that alternate between loads
 * that suit LRU and LFU, clients of which some have one load and some the other, and one load by more and more clients.
 * Hit ratios do not depend on the machine.
 */
final class AdaptivityPart {

    private static final String[] POLICIES = {"lru", "lfu", "paper", "adaptive"};
    private static final int PHASES = 4;
    /** Requests of a phase, for each object of the map. */
    private static final int PHASE_REQUESTS = 60;
    /** The map learns in the first part of a phase: one over this number of its requests. */
    private static final int FIRST = 10;

    private static final int SHARES = 8;
    private static final int[] CLIENTS = {1, 8, 64};

    private final BenchReport report;
    private final PrintStream out;
    private final int objects;
    private final long seed;
    private final Map<String, double[]> phases = new LinkedHashMap<>();

    @SuppressWarnings("NullAway.Init") // run() starts it.
    private ServerProcess server;

    /**
     * @param objects that the map holds
     * @param seed of the loads; maps have random seeds of their own
     */
    AdaptivityPart(BenchReport report, PrintStream out, long objects, long seed) {
        this.seed = seed;
        this.report = report;
        this.out = out;
        this.objects = Math.toIntExact(objects);
    }

    void run() {
        long bytes = BenchMaps.bytesOfSmall(objects);
        // The memory of a closed map is still being zeroed when the next one is created.
        try (ServerProcess started = BenchMaps.server(4 * bytes, bytes)) {
            play(started);
        }
    }

    private void play(ServerProcess on) {
        server = on;
        out.printf("%nadaptivity: a map of %,d objects; hits of the last nine tenths of each phase, %%%n", objects);
        out.printf("%-12s%10s%10s%10s%10s%10s%n", "policy", "for LRU", "for LFU", "for LRU", "for LFU", "whole");
        for (String policy : POLICIES) {
            changing(policy);
        }
        out.printf("%nof %d clients so many have the load for LRU, the others that for LFU; hits, %%%n", SHARES);
        for (String policy : POLICIES) {
            out.printf("%-12s", policy);
            for (int lru = 0; lru <= SHARES; lru += 2) {
                shares(policy, lru);
            }
            out.println();
        }
        out.printf("%nclients that share the load for LFU, then that for LRU; hits, %%%n%-12s", "");
        Arrays.stream(CLIENTS).forEach(count -> out.printf("%10d", count));
        out.println();
        for (String policy : POLICIES) {
            out.printf("%-12s", policy);
            for (int count : CLIENTS) {
                clients(policy, count);
            }
            out.println();
        }
    }

    private void changing(String policy) {
        try (PlayedPhase map = new PlayedPhase(policy, 1)) {
            AdaptiveLoad load = new AdaptiveLoad(objects, seed);
            double[] percents = new double[PHASES];
            long all = 0;
            int requests = PHASE_REQUESTS * objects;
            out.printf("%-12s", policy);
            for (int phase = 0; phase < PHASES; phase++) {
                boolean lru = phase % 2 == 0;
                int[] keys = load.phase(lru, requests);
                int first = requests / FIRST;
                long early = map.trace.play(Arrays.copyOf(keys, first));
                long hits = map.trace.play(Arrays.copyOfRange(keys, first, requests));
                all += early + hits;
                percents[phase] = 100.0 * hits / (requests - first);
                out.printf("%10.2f", percents[phase]);
                row("phases", policy, 1)
                        .put("phase", (long) phase)
                        .put("friendly_to", lru ? "lru" : "lfu")
                        .put("requests", (long) requests)
                        .put("first_tenth_hit_pct", 100.0 * early / first)
                        .put("hit_pct", percents[phase]);
            }
            double whole = 100.0 * all / ((long) PHASES * requests);
            out.printf("%10.2f%n", whole);
            row("phases", policy, 1)
                    .put("requests", (long) PHASES * requests)
                    .put("hits", all)
                    .put("hit_pct", whole);
            phases.put(policy, percents);
        }
    }

    private void shares(String policy, int lru) {
        AdaptiveLoad load = new AdaptiveLoad(objects, seed);
        // Requests are distributed to the clients in turn.
        int[] keys = new int[PHASE_REQUESTS * objects / SHARES * SHARES];
        for (int i = 0; i < keys.length; i++) {
            keys[i] = i % SHARES < lru ? load.friendlyToLru() : load.friendlyToLfu();
        }
        play("shares", policy, SHARES, keys).put("lru_clients", (long) lru);
    }

    private void clients(String policy, int count) {
        AdaptiveLoad load = new AdaptiveLoad(objects, seed);
        int[] lfu = load.phase(false, PHASE_REQUESTS * objects);
        int[] lru = load.phase(true, PHASE_REQUESTS * objects);
        int[] keys = Arrays.copyOf(lfu, lfu.length + lru.length);
        System.arraycopy(lru, 0, keys, lfu.length, lru.length);
        play("clients", policy, count, keys);
    }

    private BenchReport.Row play(String what, String policy, int clients, int[] keys) {
        try (PlayedPhase map = new PlayedPhase(policy, clients)) {
            long hits = map.trace.play(keys);
            double percent = 100.0 * hits / keys.length;
            out.printf("%10.2f", percent);
            return row(what, policy, clients)
                    .put("requests", (long) keys.length)
                    .put("hits", hits)
                    .put("hit_pct", percent);
        }
    }

    private BenchReport.Row row(String what, String policy, int clients) {
        return report.row()
                .put("part", "adaptivity")
                .put("case", what)
                .put("objects", (long) objects)
                .put("policy", policy)
                .put("clients", (long) clients);
    }

    /** Returns the plot of the phases. */
    Plot plot() {
        Plot plot = Plot.bars("kv-adaptivity", "Hits in four phases of a load", "phase", "hits, %");
        List<String> categories = List.of("1, for LRU", "2, for LFU", "3, for LRU", "4, for LFU");
        phases.forEach((policy, percents) -> {
            List<Double> values = new ArrayList<>();
            Arrays.stream(percents).forEach(values::add);
            plot.series(policy, categories, values);
        });
        return plot;
    }

    /** A map, and the sessions that play on it. */
    private final class PlayedPhase implements AutoCloseable {

        private final FarMap map;
        private final MapTrace trace;

        PlayedPhase(String policy, int clients) {
            map = BenchMaps.createSmall(server, "bench", objects, clients, policy);
            trace = new MapTrace(map, clients);
        }

        @Override
        public void close() {
            trace.close();
            map.drop();
        }
    }
}
