package io.farheap.bench.kv;

import io.farheap.bench.report.BenchReport;
import io.farheap.bench.report.ModelLateness;
import io.farheap.bench.report.SideSetup;
import io.farheap.bench.ycsb.YcsbKeys;
import io.farheap.command.ServerProcess;
import io.farheap.kv.FarMap;
import io.farheap.remote.contract.VerbCounts;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.DoubleSupplier;
import org.HdrHistogram.Histogram;

/**
 * Measures the operations that each kind of request posts, and its time beside a bare loop that posts the same
 * ({@link CostFloor}), in turns. Counts do not depend on the machine, times do.
 */
final class MessagesPart {

    private static final long TURN_NANOS = 100_000_000;

    private static final int LOOK_EVERY = 16;
    /** Requests that a session has in flight by default. */
    private static final int IN_FLIGHT = 16;

    private static final String OPERATIONS = "operations";
    /** Room for pointers, for each object: an entry has its place in a set of few. */
    private static final int POINTERS_EACH = 4;
    /** After so many gets of a key there is a pointer to its object. */
    private static final int GETS_TO_KNOW = 3;

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
        try (ServerProcess server = BenchMaps.server(4 * room, room);
                ModelLateness late = new ModelLateness(server.address())) {
            operations(server, late, room);
            evictions(server, room);
            workloads(server, room);
        }
    }

    private void operations(ServerProcess server, ModelLateness late, long room) {
        out.printf(
                "%n%-12s%8s%8s%8s%8s%30s%44s%n",
                "operation", "READ", "WRITE", "CAS", "FAA", "one at a time, p50 ns", "16 in flight, operations/s");
        FarMap map = BenchMaps.createWithoutPointers(server, OPERATIONS, room, 4 * objects);
        try (MapCaller caller = new MapCaller(map.openSession(), BenchMaps.VALUE_BYTES);
                CostFloor floor = new CostFloor(server.address(), 4 * objects, objects, BenchMaps.BLOCK_BYTES)) {
            for (long key = 0; key < objects; key++) {
                caller.set(key);
            }
            long[] fresh = {objects};
            operation(
                    "get-hit",
                    CostFloor.RequestShape.GET_HIT,
                    caller,
                    floor,
                    late,
                    () -> random.nextLong(objects),
                    false);
            operation(
                    "get-miss",
                    CostFloor.RequestShape.GET_MISS,
                    caller,
                    floor,
                    late,
                    () -> -1 - random.nextLong(objects),
                    false);
            getAll(map, late);
            operation(
                    "set-update",
                    CostFloor.RequestShape.SET_UPDATE,
                    caller,
                    floor,
                    late,
                    () -> random.nextLong(objects),
                    true);
            operation("set-insert", CostFloor.RequestShape.SET_INSERT, caller, floor, late, () -> fresh[0]++, true);
            pointers(server, floor, late);
        } finally {
            map.drop();
        }
    }

    /** Measures gets and updates of a process with pointers to all objects. */
    private void pointers(ServerProcess server, CostFloor floor, ModelLateness late) {
        try (FarMap map = BenchMaps.open(server, OPERATIONS, POINTERS_EACH * objects);
                MapCaller caller = new MapCaller(map.openSession(), BenchMaps.VALUE_BYTES)) {
            for (long get = 0; get < GETS_TO_KNOW * objects; get++) {
                caller.get(get % objects);
            }
            operation(
                    "get-pointer",
                    CostFloor.RequestShape.GET_BY_POINTER,
                    caller,
                    floor,
                    late,
                    () -> random.nextLong(objects),
                    false);
            operation(
                    "set-pointer",
                    CostFloor.RequestShape.SET_BY_POINTER,
                    caller,
                    floor,
                    late,
                    () -> random.nextLong(objects),
                    true);
        }
    }

    private void getAll(FarMap map, ModelLateness late) {
        GetAllCost cost = new GetAllCost(map, objects);
        GetAllCost.ComparedGets gets = cost.run(turns, late, TURN_NANOS);
        PairedTurns taken = gets.single();
        PairedTurns piped = gets.piped();
        counts("get-all", cost.posted, cost.keys);
        out.printf(
                "   %d keys: %,.0f ns a key, one at a time %,.0f: %.1f times as fast %s; as many in flight %,.0f: %.2f %s%n",
                GetAllCost.KEYS,
                taken.validity().compared(taken.ours().median()),
                taken.validity().compared(taken.other().median()),
                1 / taken.ratio(),
                taken.validity().remark(taken.settled()),
                piped.validity().compared(piped.other().median()),
                1 / piped.ratio(),
                piped.validity().remark(piped.settled()));
        BenchReport.Row row =
                row("uniform", "get-all", 1, cost.posted, cost.keys).put("keys", (long) GetAllCost.KEYS);
        new SideSetup(MapStore.bytesOfSession(GetAllCost.KEYS), 1, GetAllCost.KEYS, GetAllCost.KEYS).put(row);
        taken.validity().put(taken.put(row, "ns_of_key", "single_ns"), taken.settled());
        piped.put(row, "ns_of_key_beside_piped", "piped_ns")
                .put("piped_settled", piped.settled())
                .put("piped_late_pct", piped.validity().latePercent())
                .put("piped_invalid", piped.validity().invalid());
    }

    private interface Keys {
        long next();
    }

    private void operation(
            String name,
            CostFloor.RequestShape shape,
            MapCaller caller,
            CostFloor floor,
            ModelLateness late,
            Keys keys,
            boolean set) {
        // Fresh keys fill the map, so the number of insertions is limited to what there is room for.
        long most = name.equals("set-insert")
                ? objects / (2L * (PairedTurns.WARM_UPS + PairedTurns.counted(turns)))
                : Long.MAX_VALUE;
        Runnable one = set ? () -> caller.set(keys.next()) : () -> caller.get(keys.next());
        Runnable begun = set ? () -> caller.beginSet(keys.next()) : () -> caller.beginGet(keys.next());
        long[] requests = {0};
        long[] floorRequests = {0};
        VerbCounts before = caller.session().posted();
        VerbCounts floorBefore = floor.posted();
        PairedTurns times = PairedTurns.take(
                turns,
                late,
                () -> alike(shape, caller, floor, requests, () -> p50(most, one, requests)),
                () -> p50(Long.MAX_VALUE, () -> floor.run(shape), floorRequests));
        PairedTurns rates = PairedTurns.take(
                turns,
                late,
                () -> alike(shape, caller, floor, requests, () -> rate(most, begun, caller::drain, requests)),
                () -> rate(Long.MAX_VALUE, () -> floor.begin(shape), floor::drain, floorRequests));
        VerbCounts posted = caller.session().posted().since(before);
        counts(name, posted, requests[0]);
        out.printf(
                "%,14.0f [%,.0f] %.2f of it %s%,17.0f [%,.0f] %.2f of it %s%n",
                times.validity().compared(times.ours().median()),
                times.validity().compared(times.other().median()),
                times.ratio(),
                times.validity().remark(times.settled()),
                rates.validity().compared(rates.ours().median()),
                rates.validity().compared(rates.other().median()),
                rates.ratio(),
                rates.validity().remark(rates.settled()));
        BenchReport.Row row = row("uniform", name, 1, posted, requests[0]);
        new SideSetup(MapStore.bytesOfSession(IN_FLIGHT), 1, 1, 1).put(row).put("rates_in_flight", IN_FLIGHT);
        VerbCounts floorPosted = floor.posted().since(floorBefore);
        double each = Math.max(1, floorRequests[0]);
        row.put("floor_reads", floorPosted.reads() / each)
                .put("floor_writes", floorPosted.writes() / each)
                .put("floor_cas", floorPosted.swaps() / each)
                .put("floor_faa", floorPosted.adds() / each);
        times.put(row, "p50_ns", "floor_p50_ns");
        rates.put(row, "ops_per_s", "floor_ops_per_s");
        times.validity()
                .put(row, times.settled())
                .put("rates_settled", rates.settled())
                .put("rates_late_pct", rates.validity().latePercent())
                .put("rates_invalid", rates.validity().invalid());
    }

    /**
     * Runs a turn of the map. From then on the floor posts as many last accesses and counts for a request as it did.
     */
    private static double alike(
            CostFloor.RequestShape shape, MapCaller caller, CostFloor floor, long[] requests, DoubleSupplier turn) {
        VerbCounts before = caller.session().posted();
        long requestsBefore = requests[0];
        double figure = turn.getAsDouble();
        floor.hints(shape, caller.session().posted().since(before), requests[0] - requestsBefore);
        return figure;
    }

    /**
     * Returns the median time of a request, in ns.
     *
     * @param requests to which their number is added
     */
    private static double p50(long most, Runnable one, long[] requests) {
        Histogram latency = new Histogram(3);
        requests[0] += blocking(latency, most, one);
        return (double) latency.getValueAtPercentile(50);
    }

    /**
     * Returns requests a second.
     *
     * @param requests to which their number is added
     */
    private static double rate(long most, Runnable begin, Runnable drain, long[] requests) {
        long started = System.nanoTime();
        long piped = inFlight(most, begin, drain);
        requests[0] += piped;
        return piped * 1e9 / (System.nanoTime() - started);
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

    /** Measures requests of several sessions in turn, from one thread. */
    private void workloads(ServerProcess server, long room) {
        out.printf(
                "%n%-12s%8s%8s%8s%8s%10s%12s%10s%n",
                "YCSB", "READ", "WRITE", "CAS", "FAA", "sessions", "requests", "hit %");
        for (KvWorkload workload : KvWorkload.values()) {
            for (int sessions : sessionCounts) {
                workload(server, room, workload, sessions);
            }
        }
    }

    private void workload(ServerProcess server, long room, KvWorkload workload, int sessions) {
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
                if (what < workload.updates) {
                    caller.set(keys.zipfian());
                } else if (what < workload.updates + workload.inserts) {
                    caller.set(keys.insert());
                } else {
                    gets++;
                    hits += caller.get(workload.inserts > 0 ? keys.latest() : keys.zipfian()) ? 1 : 0;
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
