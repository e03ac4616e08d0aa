package io.farheap.bench.kv;

import io.farheap.bench.peers.PeerAbsentException;
import io.farheap.bench.report.BenchReport;
import io.farheap.bench.report.ModelLateness;
import io.farheap.bench.report.TurnWarmUp;
import io.farheap.bench.report.Turns;
import io.farheap.bench.report.Validity;
import io.farheap.command.ServerProcess;
import io.farheap.lifetime.CloseStack;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;

/**
 * YCSB A to D on pairs of 256 bytes (Ditto, figures 14 and 15), uniform and Zipfian keys, in a {@link ClosedLoop}: on a
 * map, and beside it on Redis and memcached with as much memory. At each point of the table the stores take turns of
 * 0.1 s, and rates are medians of them.
 */
final class YcsbPart {

    /** Longer than a turn of each store, with the opening of its sessions. */
    private static final long TURN_NANOS = 3 * ClosedLoop.WINDOW_NANOS;

    /**
     * How often the sessions of a turn are opened and closed before the first point, for each turn that is measured.
     */
    private static final int OPENINGS = 20;

    private final BenchReport report;
    private final PrintStream out;
    private final long objects;
    private final int turns;
    private final List<Integer> sessionCounts;
    private final boolean peers;

    /**
     * @param objects in each store
     * @param turns for each figure
     * @param peers whether Redis and memcached are measured beside the map
     */
    YcsbPart(BenchReport report, PrintStream out, long objects, int turns, List<Integer> sessionCounts, boolean peers) {
        this.report = report;
        this.out = out;
        this.objects = objects;
        this.turns = turns;
        this.sessionCounts = sessionCounts;
        this.peers = peers;
    }

    void run() {
        out.printf(
                "%nycsb: %,d objects of 256 bytes, %d threads; a closed loop, one request under way for each session%n",
                objects, ClosedLoop.threads(Integer.MAX_VALUE));
        YcsbRow.printHeader(out);
        List<CacheSystem> systems = peers ? present() : List.of();
        long room = BenchMaps.room(objects);
        // The memory of a closed map is still being zeroed when the next one is created.
        try (ServerProcess server = BenchMaps.server(4 * room, room);
                ModelLateness late = new ModelLateness(server.address())) {
            warmUp(server);
            for (KvWorkload workload : KvWorkload.values()) {
                for (boolean zipfian : new boolean[] {false, true}) {
                    for (int sessions : sessionCounts) {
                        measure(server, late, systems, new YcsbPoint(workload, zipfian, sessions));
                    }
                }
            }
        }
    }

    /**
     * Lets the server's process compile the code by which it connects and ends sessions. Each turn does that for all of
     * its sessions, and so the compiler would take a core from the turns of the first points.
     */
    private void warmUp(ServerProcess server) {
        int most = sessionCounts.stream().mapToInt(Integer::intValue).max().orElse(0);
        try (MapStore store = MapStore.open(server, BenchMaps.room(objects), objects)) {
            for (int opening = 0; opening < OPENINGS * turns; opening++) {
                try (CloseStack opened = new CloseStack()) {
                    for (int session = 0; session < most; session++) {
                        opened.add(store.map().openSession(MapClient.REQUESTS));
                    }
                }
            }
        }
    }

    /** Returns the names of the points that {@link #run} measures with a model, for {@link WholeTable}. */
    static Set<String> points(List<Integer> sessionCounts, String model) {
        Set<String> points = new LinkedHashSet<>();
        for (KvWorkload workload : KvWorkload.values()) {
            for (boolean zipfian : new boolean[] {false, true}) {
                for (int sessions : sessionCounts) {
                    YcsbPoint point = new YcsbPoint(workload, zipfian, sessions);
                    points.add(WholeTable.ycsb(workload.name(), point.keys(), sessions, model));
                }
            }
        }
        return points;
    }

    /** Returns the systems that are installed; the others have a row with the reason. */
    private List<CacheSystem> present() {
        List<CacheSystem> systems = new ArrayList<>();
        for (CacheSystem system : CacheSystem.values()) {
            try {
                system.program();
                systems.add(system);
            } catch (PeerAbsentException e) {
                out.printf("absent: %s: %s%n", system.engine, e.getMessage());
                report.row()
                        .put("part", YcsbRow.PART)
                        .put("engine", system.engine)
                        .put("operation", "absent")
                        .put("absent", e.getMessage());
            }
        }
        return systems;
    }

    private void measure(ServerProcess server, ModelLateness late, List<CacheSystem> systems, YcsbPoint point) {
        long room = BenchMaps.room(objects);
        try (CloseStack opened = new CloseStack()) {
            List<MeasuredStore> stores = new ArrayList<>();
            stores.add(new MeasuredStore(opened.add(MapStore.open(server, room, objects)), point));
            for (CacheSystem system : systems) {
                stores.add(new MeasuredStore(opened.add(open(system, room)), point));
            }
            long least = (long) stores.size() * TurnWarmUp.AGREEING * TURN_NANOS;
            long most = Math.max(least, (long) stores.size() * turns * TURN_NANOS);
            TurnWarmUp warmUp = new TurnWarmUp(stores.size(), least, most, System::nanoTime);
            Turns taken = Turns.take(stores, warmUp, turns, late::restart);
            Validity validity = late.validity();
            for (int side = 0; side < stores.size(); side++) {
                MeasuredStore store = stores.get(side);
                // Peers do not use the model: late operations of the map are none of theirs.
                Validity own = store.store instanceof MapStore ? validity : Validity.NO_MODEL;
                new YcsbRow(point, store.store, room, store.result, store.serverNanos, own, taken.settled(side))
                        .put(report, out);
            }
        }
    }

    private CacheStore open(CacheSystem system, long bytes) {
        try {
            return CacheStore.open(system, bytes, objects);
        } catch (PeerAbsentException e) {
            throw new IllegalStateException(system.engine + " was there before: " + e.getMessage(), e);
        }
    }

    /** A store that takes its turns at one point of the table. */
    private final class MeasuredStore implements Turns.Side<RuntimeException> {

        private final YcsbStore store;
        private final int sessions;
        private final List<YcsbRequests> requests;
        /** Of the turns that count. */
        private ClosedLoop.LoopResult result = ClosedLoop.LoopResult.nothing();

        /** Processor time of the server, of the turns that count with their openings and warm-ups. */
        private long serverNanos;

        MeasuredStore(YcsbStore store, YcsbPoint point) {
            this.store = store;
            this.sessions = point.sessions();
            requests = IntStream.range(0, ClosedLoop.threads(sessions))
                    .mapToObj(thread -> new YcsbRequests(point.workload(), point.zipfian(), objects, thread))
                    .toList();
        }

        @Override
        public double run(int turn) {
            long before = store.serverCpuNanos();
            ClosedLoop.LoopResult ran = ClosedLoop.turn(sessions, store.clients(requests));
            if (turn >= 0) {
                result = result.and(ran);
                serverNanos += store.serverCpuNanos() - before;
            }
            return ran.rates().median();
        }
    }
}
