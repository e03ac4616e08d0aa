package io.farheap.bench.resilience;

import io.farheap.bench.report.ModelLateness;
import io.farheap.bench.report.Rotation;
import io.farheap.bench.report.Samples;
import io.farheap.bench.report.TurnWarmUp;
import io.farheap.bench.report.Validity;
import io.farheap.lifetime.CloseStack;
import io.farheap.resilience.contract.Health;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Supplier;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/**
 * Takes servers away under load, in turns: each turn of each kind has servers of its own, since a server that was taken
 * away cannot be used again, and begins with loads without the fault. Two sessions make requests at the same time: one
 * reads pages that are never written, the other writes. One thread polls both, so that a waiting write delays no read,
 * and a read no write. One thread.
 */
final class OutagePart {

    /** The reader has one half of the pages, and the writer the other. */
    private static final int HALVES = 2;
    /** A read and a write. */
    private static final int IN_FLIGHT = 2;
    /** The most loads before one that counts; each lasts as long as a part of it. */
    static final int MOST_WARM_UPS = 2 * TurnWarmUp.AGREEING;

    /** A session and its work, one kind of request after another. */
    private static final class Stream {

        private final Requester requester;
        private final List<RequestKind> accesses;
        private int next;
        private boolean busy;

        Stream(Requester requester, List<RequestKind> accesses) {
            this.requester = requester;
            this.accesses = accesses;
        }

        void step(Map<RequestKind, RequestTally> tallies, boolean begins) {
            if (busy) {
                busy = !requester.ended(Objects.requireNonNull(tallies.get(accesses.get(next))));
            } else if (begins) {
                next = (next + 1) % accesses.size();
                requester.begin(accesses.get(next));
                busy = true;
            }
        }
    }

    /** Creates the outage of a kind's servers. */
    private interface Maker {
        Outage make(MemoryKind kind, ServerCluster cluster, FarSide side);
    }

    /** The results of a kind in all turns. */
    private static final class Course {

        private final Map<RequestKind, RequestTally> before;
        private final Map<RequestKind, RequestTally> during;
        /** Whose medians agreed at the end of each turn's warm-up. */
        private final Set<RequestKind> settled;

        private final Samples wholeMillis = new Samples();
        private int times;
        private long bytesRead;
        private long bytesRebuilt;
        private long bytesByServers;
        private double memoryOverhead;
        private long bytesLocal;

        Course(Map<RequestKind, RequestTally> before, Map<RequestKind, RequestTally> during) {
            this.before = before;
            this.during = during;
            this.settled = new HashSet<>(before.keySet());
        }

        /** @param agreed the requests of which the warm-up of one turn agreed */
        void warmed(Set<RequestKind> agreed) {
            settled.retainAll(agreed);
            before.forEach((access, tally) -> tally.settled(settled.contains(access)));
            during.forEach((access, tally) -> tally.settled(settled.contains(access)));
        }

        void repaired(double millis, Health health) {
            if (!Double.isNaN(millis)) {
                wholeMillis.add(millis);
                times++;
            }
            bytesRead += health.regenerationBytesRead();
            bytesRebuilt += health.regenerationBytesRebuilt();
            bytesByServers += health.regenerationBytesByServers();
        }

        ResultRows.Repair repair() {
            double millis = times == 0 ? Double.NaN : wholeMillis.median();
            return new ResultRows.Repair(millis, times, bytesRead, bytesRebuilt, bytesByServers);
        }
    }

    private final ResiliencePlan plan;
    private final ResultRows rows;
    private final String fault;
    private final int turns;
    private final ToIntFunction<MemoryKind> taken;
    private final Maker maker;
    private final Map<MemoryKind, Course> courses = new HashMap<>();

    /**
     * @param turns of each kind, each on servers that are started for it
     * @param taken how many servers of a kind are taken away
     */
    private OutagePart(
            ResiliencePlan plan,
            ResultRows rows,
            String fault,
            int turns,
            ToIntFunction<MemoryKind> taken,
            Maker maker) {
        this.plan = plan;
        this.rows = rows;
        this.fault = fault;
        this.turns = turns;
        this.taken = taken;
        this.maker = maker;
    }

    /** The first r servers of a kind die at once, and one server if r is 0. */
    static OutagePart crash(ResiliencePlan plan, ResultRows rows, int turns) {
        return new OutagePart(
                plan,
                rows,
                FaultOptions.CRASH,
                turns,
                MemoryKind::kills,
                (kind, cluster, side) -> new KillOutage(cluster, side, kind.kills(), plan.nanos() / turns));
    }

    /** One server cannot be reached for some time, and then can. */
    static OutagePart partition(ResiliencePlan plan, ResultRows rows, int turns, long nanos) {
        return new OutagePart(
                plan,
                rows,
                FaultOptions.PARTITION,
                turns,
                kind -> 1,
                (kind, cluster, side) -> new PartitionOutage(cluster, side, nanos, plan.nanos() / turns));
    }

    /** Runs one kind after the other, again and again: first without the fault and then with it. */
    void run() {
        rows.title(fault);
        plan.kinds().forEach(kind -> courses.put(kind, new Course(tallies(), tallies())));
        Rotation rotation = new Rotation(plan.kinds().size(), turns);
        for (int turn = 0; turn < turns; turn++) {
            for (int place : rotation.order(turn)) {
                run(plan.kinds().get(place));
            }
        }
        plan.kinds().forEach(this::add);
    }

    private void run(MemoryKind kind) {
        Course course = courseOf(kind);
        int spare = kind.survives() ? taken.applyAsInt(kind) : 0;
        int servers = kind.splits() + spare;
        // All regions of the servers that are gone may move to one.
        long regions = kind.regions(plan.bytes(), plan.regionBytes()) / kind.splits() + 1;
        long nanos = plan.nanos() / turns;
        try (CloseStack opened = new CloseStack()) {
            ServerCluster cluster = opened.add(new ServerCluster(servers, regions, plan.regionBytes()));
            FarSide side = opened.add(kind.open(cluster.memory(), plan.bytes()));
            ShadowMemory shadow = opened.add(new ShadowMemory(plan.bytes(), servers));
            Requester whole = opened.add(requester(side, shadow, 1, 0));
            Stream reader = new Stream(opened.add(requester(side, shadow, HALVES, 0)), accesses(false));
            Stream writer = new Stream(opened.add(requester(side, shadow, HALVES, 1)), accesses(true));
            whole.fill();
            course.warmed(warmUp(plan.accesses(), () -> {
                Map<RequestKind, RequestTally> tallies = tallies();
                load(reader, writer, tallies, null, nanos / TurnWarmUp.AGREEING);
                return tallies;
            }));
            // Of this process alone: servers of an outage cannot be asked.
            ModelLateness lateness = opened.add(new ModelLateness());
            load(reader, writer, course.before, null, nanos);
            judge(course.before, lateness.validity());
            double wholeMillis;
            try (Outage outage = maker.make(kind, cluster, side)) {
                outage.start();
                load(reader, writer, course.during, outage, 0);
                wholeMillis = outage.wholeMillis();
            }
            judge(course.during, lateness.validity());
            RequestTally everything = whole.verify();
            course.during.forEach((access, tally) -> {
                if (access.write()) {
                    tally.verified(everything);
                }
            });
            Health health = side.health();
            if (health != null) {
                course.repaired(wholeMillis, health);
            }
            course.memoryOverhead = side.memoryOverhead();
            course.bytesLocal = side.localBytes();
        }
    }

    /**
     * Loads until the last three loads' medians of each kind of request agree within 5%, or as often as allowed.
     *
     * @param load runs one and returns its results
     * @return the requests whose medians agree
     */
    static Set<RequestKind> warmUp(List<RequestKind> accesses, Supplier<Map<RequestKind, RequestTally>> load) {
        TurnWarmUp warmUp = TurnWarmUp.untimed(accesses.size());
        for (int turn = 0; turn < MOST_WARM_UPS && warmUp.more(); turn++) {
            Map<RequestKind, RequestTally> tallies = load.get();
            for (int i = 0; i < accesses.size(); i++) {
                warmUp.add(
                        i, Objects.requireNonNull(tallies.get(accesses.get(i))).median());
            }
        }
        Set<RequestKind> agreed = new HashSet<>();
        for (int i = 0; i < accesses.size(); i++) {
            if (warmUp.settled(i)) {
                agreed.add(accesses.get(i));
            }
        }
        return agreed;
    }

    private static void judge(Map<RequestKind, RequestTally> tallies, Validity validity) {
        tallies.values().forEach(tally -> tally.judged(validity));
    }

    private Course courseOf(MemoryKind kind) {
        return Objects.requireNonNull(courses.get(kind));
    }

    private Requester requester(FarSide side, ShadowMemory shadow, int every, int first) {
        return new Requester(side.open(), shadow, plan.pageBytes(), plan.bytes(), every, first);
    }

    private List<RequestKind> accesses(boolean write) {
        return plan.accesses().stream()
                .filter(access -> access.write() == write)
                .toList();
    }

    private Map<RequestKind, RequestTally> tallies() {
        Map<RequestKind, RequestTally> tallies = new HashMap<>();
        plan.accesses().forEach(access -> tallies.put(access, new RequestTally()));
        return tallies;
    }

    /**
     * Runs both streams, until the outage has ended, or for a time; then waits for the requests under way, which count:
     * the last one may be a stall.
     */
    private static void load(
            Stream reader, Stream writer, Map<RequestKind, RequestTally> tallies, @Nullable Outage outage, long nanos) {
        long from = System.nanoTime();
        boolean goesOn = true;
        while (goesOn || reader.busy || writer.busy) {
            goesOn = goesOn && (outage == null ? System.nanoTime() - from < nanos : !outage.done());
            reader.step(tallies, goesOn);
            writer.step(tallies, goesOn);
        }
        tallies.values().forEach(RequestTally::endTurn);
    }

    private void add(MemoryKind kind) {
        Course course = courseOf(kind);
        for (RequestKind access : plan.accesses()) {
            Map<MemoryKind, RequestTally> same = new HashMap<>();
            courses.forEach((other, its) -> same.put(other, Objects.requireNonNull(its.during.get(access))));
            rows.add(new ResultRows.FigureRow(
                    kind,
                    access,
                    fault,
                    Objects.requireNonNull(course.during.get(access)),
                    same,
                    course.before.get(access),
                    courseOf(plan.baseline(access)).before.get(access),
                    course.memoryOverhead,
                    course.bytesLocal,
                    IN_FLIGHT,
                    course.repair()));
        }
    }
}
