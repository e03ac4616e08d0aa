package io.farheap.bench.kv;

import io.farheap.bench.report.BenchReport;
import io.farheap.bench.report.Samples;
import io.farheap.bench.ycsb.YcsbKeys;
import io.farheap.command.ServerProcess;
import io.farheap.kv.FarMap;
import io.farheap.remote.contract.VerbCounts;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.HdrHistogram.Histogram;

/**
 * Measures the operations that each kind of request posts, and its time beside a bare loop that posts the same
 * ({@link CostFloor}), in turns. Counts do not depend on the machine, times do.
 */
final class MessagesPart {

    private static final long TURN_NANOS = 100_000_000;
    /** Turns before those that count: until all code is compiled. */
    private static final int WARM_UPS = 12;

    private static final int LOOK_EVERY = 16;

    private final BenchReport report;
    private final PrintStream out;
    private final long objects;
    private final int turns;
    private final List<Integer> sessionCounts;
    private final SplittableRandom random = new SplittableRandom(1);

    /**
     * @param objects in the map
     * @param turns of each side
     * @param sessionCounts numbers of sessions for YCSB
     */
    MessagesPart(BenchReport report, PrintStream out, long objects, int turns, List<Integer> sessionCounts) {
        this.sessionCounts = sessionCounts;
        this.report = report;
        this.out = out;
        this.objects = objects;
        this.turns = turns;
    }

    void run() {
        // Room for all that is inserted on the way, so that evictions happen only in the part that measures them.
        long room = BenchMaps.room(objects);
        out.printf(
                "%nmessages: %,d objects of 256 bytes, keys uniform; medians of %d turns; in brackets the floor: the same "
                        + "operations without a map%n",
                objects, turns);
        try (ServerProcess server = BenchMaps.server(4 * room, room)) {
            operations(server, room);
            evictions(server, room);
            workloads(server, room);
        }
    }

    private void operations(ServerProcess server, long room) {
        out.printf(
                "%n%-12s%8s%8s%8s%8s%30s%44s%n",
                "operation", "READ", "WRITE", "CAS", "FAA", "one at a time, p50 ns", "16 in flight, operations/s");
        FarMap map = BenchMaps.create(server, "operations", room, 4 * objects);
        try (MapCaller caller = new MapCaller(map.openSession(), BenchMaps.VALUE_BYTES);
                CostFloor floor = new CostFloor(server.address(), 4 * objects, objects, BenchMaps.BLOCK_BYTES)) {
            for (long key = 0; key < objects; key++) {
                caller.set(key);
            }
            long[] fresh = {objects};
            operation("get-hit", CostFloor.RequestShape.GET_HIT, caller, floor, () -> random.nextLong(objects), false);
            operation(
                    "get-miss",
                    CostFloor.RequestShape.GET_MISS,
                    caller,
                    floor,
                    () -> -1 - random.nextLong(objects),
                    false);
            getAll(map);
            operation(
                    "set-update",
                    CostFloor.RequestShape.SET_UPDATE,
                    caller,
                    floor,
                    () -> random.nextLong(objects),
                    true);
            operation("set-insert", CostFloor.RequestShape.SET_INSERT, caller, floor, () -> fresh[0]++, true);
        } finally {
            map.drop();
        }
    }

    private void getAll(FarMap map) {
        GetAllCost cost = new GetAllCost(map, objects);
        cost.run(WARM_UPS, turns, TURN_NANOS);
        double ratio = cost.single.median() / cost.together.median();
        counts("get-all", cost.posted, cost.keys);
        out.printf(
                "   %d keys: %,.0f ns a key, one at a time %,.0f: %.1f times as fast%n",
                GetAllCost.KEYS, cost.together.median(), cost.single.median(), ratio);
        row("uniform", "get-all", 1, cost.posted, cost.keys)
                .put("keys", (long) GetAllCost.KEYS)
                .put("ns_of_key", cost.together.median())
                .put("ns_of_key_least", cost.together.least())
                .put("ns_of_key_most", cost.together.most())
                .put("single_ns", cost.single.median())
                .put("single_ns_least", cost.single.least())
                .put("single_ns_most", cost.single.most());
    }

    private interface Keys {
        long next();
    }

    private void operation(
            String name, CostFloor.RequestShape shape, MapCaller caller, CostFloor floor, Keys keys, boolean set) {
        // Fresh keys fill the map, so the number of insertions is limited to what there is room for.
        long most = name.equals("set-insert") ? objects / (2L * (WARM_UPS + turns)) : Long.MAX_VALUE;
        Samples ours = new Samples();
        Samples bare = new Samples();
        Samples rate = new Samples();
        Samples bareRate = new Samples();
        VerbCounts before = caller.session().posted();
        long requests = 0;
        for (int turn = -WARM_UPS; turn < turns; turn++) {
            Histogram latency = new Histogram(3);
            long ran = blocking(latency, most, set ? () -> caller.set(keys.next()) : () -> caller.get(keys.next()));
            Histogram floorLatency = new Histogram(3);
            blocking(floorLatency, Long.MAX_VALUE, () -> floor.run(shape));
            long started = System.nanoTime();
            long piped = inFlight(
                    most, set ? () -> caller.beginSet(keys.next()) : () -> caller.beginGet(keys.next()), caller::drain);
            double perSecond = piped * 1e9 / (System.nanoTime() - started);
            started = System.nanoTime();
            long floorPiped = inFlight(Long.MAX_VALUE, () -> floor.begin(shape), floor::drain);
            double floorPerSecond = floorPiped * 1e9 / (System.nanoTime() - started);
            requests += ran + piped;
            if (turn >= 0) {
                ours.add((double) latency.getValueAtPercentile(50));
                bare.add((double) floorLatency.getValueAtPercentile(50));
                rate.add(perSecond);
                bareRate.add(floorPerSecond);
            }
        }
        VerbCounts posted = caller.session().posted().since(before);
        counts(name, posted, requests);
        out.printf(
                "%,14.0f [%,.0f] %.2f of it%,17.0f [%,.0f] %.2f of it%n",
                ours.median(),
                bare.median(),
                ours.median() / bare.median(),
                rate.median(),
                bareRate.median(),
                rate.median() / bareRate.median());
        row("uniform", name, 1, posted, requests)
                .put("p50_ns", ours.median())
                .put("p50_ns_least", ours.least())
                .put("p50_ns_most", ours.most())
                .put("floor_p50_ns", bare.median())
                .put("floor_p50_ns_least", bare.least())
                .put("floor_p50_ns_most", bare.most())
                .put("ops_per_s", rate.median())
                .put("ops_per_s_least", rate.least())
                .put("ops_per_s_most", rate.most())
                .put("floor_ops_per_s", bareRate.median())
                .put("floor_ops_per_s_least", bareRate.least())
                .put("floor_ops_per_s_most", bareRate.most());
    }

    private static long blocking(Histogram latency, long most, Runnable one) {
        long end = System.nanoTime() + TURN_NANOS;
        long requests = 0;
        long before = System.nanoTime();
        while (before < end && requests < most) {
            one.run();
            long after = System.nanoTime();
            latency.recordValue(after - before);
            before = after;
            requests++;
        }
        return requests;
    }

    private static long inFlight(long most, Runnable begin, Runnable drain) {
        long end = System.nanoTime() + TURN_NANOS;
        long requests = 0;
        while (requests < most && (requests % LOOK_EVERY != 0 || System.nanoTime() < end)) {
            begin.run();
            requests++;
        }
        drain.run();
        return requests;
    }

    /** Measures the operations that an insertion posts in addition if it has to evict. */
    private void evictions(ServerProcess server, long room) {
        long held = room / BenchMaps.BLOCK_BYTES;
        FarMap map = BenchMaps.create(server, "evictions", room, held);
        try (MapCaller caller = new MapCaller(map.openSession(), BenchMaps.VALUE_BYTES)) {
            long key = 0;
            VerbCounts before = caller.session().posted();
            long inserted = Math.max(1, held / 2);
            for (; key < inserted; key++) {
                caller.beginSet(key);
            }
            caller.drain();
            VerbCounts inserting = caller.session().posted().since(before);
            for (; key < held + held / 2; key++) {
                caller.beginSet(key);
            }
            caller.drain();
            before = caller.session().posted();
            for (long end = key + inserted; key < end; key++) {
                caller.beginSet(key);
            }
            caller.drain();
            VerbCounts evicting = caller.session().posted().since(before);
            VerbCounts more = evicting.since(inserting);
            counts("evict", more, inserted);
            out.println();
            row("uniform", "evict", 1, more, inserted);
        } finally {
            map.drop();
        }
    }

    private record Workload(String name, double updates, double inserts) {}

    private static final List<Workload> YCSB = List.of(
            new Workload("A", 0.5, 0), new Workload("B", 0.05, 0), new Workload("C", 0, 0), new Workload("D", 0, 0.05));

    /** Measures requests of several sessions in turn, from one thread. */
    private void workloads(ServerProcess server, long room) {
        out.printf(
                "%n%-12s%8s%8s%8s%8s%10s%12s%10s%n",
                "YCSB", "READ", "WRITE", "CAS", "FAA", "sessions", "requests", "hit %");
        for (Workload workload : YCSB) {
            for (int sessions : sessionCounts) {
                workload(server, room, workload, sessions);
            }
        }
    }

    private void workload(ServerProcess server, long room, Workload workload, int sessions) {
        FarMap map = BenchMaps.create(server, workload.name() + sessions, room, 4 * objects);
        List<MapCaller> callers = new ArrayList<>();
        try {
            for (int i = 0; i < sessions; i++) {
                callers.add(new MapCaller(map.openSession(), BenchMaps.VALUE_BYTES));
            }
            for (long key = 0; key < objects; key++) {
                callers.get((int) (key % sessions)).set(key);
            }
            List<VerbCounts> before =
                    callers.stream().map(caller -> caller.session().posted()).toList();
            YcsbKeys keys = new YcsbKeys(objects, 1);
            long requests = 2 * objects;
            long gets = 0;
            long hits = 0;
            for (long i = 0; i < requests; i++) {
                MapCaller caller = callers.get((int) (i % sessions));
                double what = random.nextDouble();
                if (what < workload.updates()) {
                    caller.set(keys.zipfian());
                } else if (what < workload.updates() + workload.inserts()) {
                    caller.set(keys.insert());
                } else {
                    gets++;
                    hits += caller.get(workload.inserts() > 0 ? keys.latest() : keys.zipfian()) ? 1 : 0;
                }
            }
            VerbCounts posted = MapTrace.none();
            for (int i = 0; i < sessions; i++) {
                posted = MapTrace.sum(posted, callers.get(i).session().posted().since(before.get(i)));
            }
            counts(workload.name(), posted, requests);
            out.printf("%10d%,12d%10.2f%n", sessions, requests, 100.0 * hits / Math.max(1, gets));
            row(workload.name(), "all", sessions, posted, requests)
                    .put("requests", requests)
                    .put("hit_pct", 100.0 * hits / Math.max(1, gets));
        } finally {
            callers.forEach(MapCaller::close);
            map.drop();
        }
    }

    private void counts(String name, VerbCounts posted, long requests) {
        double each = Math.max(1, requests);
        out.printf(
                "%-12s%8.3f%8.3f%8.3f%8.3f",
                name, posted.reads() / each, posted.writes() / each, posted.swaps() / each, posted.adds() / each);
    }

    private BenchReport.Row row(String workload, String operation, int sessions, VerbCounts posted, long requests) {
        BenchReport.Row row = report.row()
                .put("part", "messages")
                .put("engine", "disaggregated")
                .put("workload", workload)
                .put("operation", operation)
                .put("sessions", (long) sessions);
        return MapTrace.put(row, posted, requests).put("calls", 0L);
    }
}
