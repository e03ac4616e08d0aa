package io.farheap.bench.resilience;

import io.farheap.lifetime.CloseStack;
import io.farheap.resilience.Health;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/**
 * Servers that are taken away under load: each kind on servers of its own. Two sessions request at the same time, one
 * that reads what nobody writes, and one that writes: one thread polls both, so that a write that waits holds up no
 * read, and a read no write. One thread.
 */
final class OutagePart {

    /** The reader has one half of the pages, and the writer the other. */
    private static final int HALVES = 2;

    /** A session and what it does, one kind of request after another. */
    private static final class Stream {

        private final Requester requester;
        private final List<Access> accesses;
        private int next;
        private boolean busy;

        Stream(Requester requester, List<Access> accesses) {
            this.requester = requester;
            this.accesses = accesses;
        }

        void step(Map<Access, Tally> tallies, boolean begins) {
            if (busy) {
                busy = !requester.ended(Objects.requireNonNull(tallies.get(accesses.get(next))));
            } else if (begins) {
                next = (next + 1) % accesses.size();
                requester.begin(accesses.get(next));
                busy = true;
            }
        }
    }

    /** Makes what takes servers of a kind away. */
    private interface Maker {
        Outage make(Kind kind, Cluster cluster, FarSide side);
    }

    private final Plan plan;
    private final Rows rows;
    private final String fault;
    private final ToIntFunction<Kind> taken;
    private final Maker maker;
    private final Map<String, Map<Access, Tally>> before = new HashMap<>();

    /** @param taken how many servers of a kind are taken away */
    private OutagePart(Plan plan, Rows rows, String fault, ToIntFunction<Kind> taken, Maker maker) {
        this.plan = plan;
        this.rows = rows;
        this.fault = fault;
        this.taken = taken;
        this.maker = maker;
    }

    /** As many die at once as it survives. */
    static OutagePart crash(Plan plan, Rows rows) {
        return new OutagePart(
                plan,
                rows,
                Faults.CRASH,
                Kind::kills,
                (kind, cluster, side) -> new Killing(cluster, side, kind.kills(), plan.nanos()));
    }

    /** One cannot be reached for so long, and then can. */
    static OutagePart partition(Plan plan, Rows rows, long nanos) {
        return new OutagePart(
                plan,
                rows,
                Faults.PARTITION,
                kind -> 1,
                (kind, cluster, side) -> new Partition(cluster, side, nanos, plan.nanos()));
    }

    void run() {
        rows.title(fault);
        plan.kinds().forEach(this::run);
    }

    private void run(Kind kind) {
        int spare = kind.survives() ? taken.applyAsInt(kind) : 0;
        int servers = kind.splits() + spare;
        // All of those that are gone may come to one.
        long regions = kind.regions(plan.bytes(), plan.regionBytes()) / kind.splits() + 1;
        try (CloseStack opened = new CloseStack()) {
            Cluster cluster = opened.add(new Cluster(servers, regions, plan.regionBytes()));
            FarSide side = opened.add(kind.open(cluster.memory(), plan.bytes()));
            Shadow shadow = opened.add(new Shadow(plan.bytes(), servers));
            Requester whole = opened.add(requester(side, shadow, 1, 0));
            Stream reader = new Stream(opened.add(requester(side, shadow, HALVES, 0)), accesses(false));
            Stream writer = new Stream(opened.add(requester(side, shadow, HALVES, 1)), accesses(true));
            whole.fill();
            load(reader, writer, tallies(), null, plan.nanos());
            Map<Access, Tally> quiet = tallies();
            load(reader, writer, quiet, null, plan.nanos());
            before.put(kind.name(), quiet);
            Map<Access, Tally> during = tallies();
            double wholeMillis;
            try (Outage outage = maker.make(kind, cluster, side)) {
                outage.start();
                load(reader, writer, during, outage, 0);
                wholeMillis = outage.wholeMillis();
            }
            Tally everything = whole.verify();
            Health health = side.health();
            Rows.Repair repair = health == null ? Rows.Repair.NONE : Rows.Repair.of(wholeMillis, health);
            during.forEach((access, tally) -> {
                if (access.write()) {
                    tally.verified(everything);
                }
            });
            add(kind, side.memoryOverhead(), quiet, during, repair);
        }
    }

    private Requester requester(FarSide side, Shadow shadow, int every, int first) {
        return new Requester(side.open(), shadow, plan.pageBytes(), plan.bytes(), every, first);
    }

    private List<Access> accesses(boolean write) {
        return plan.accesses().stream()
                .filter(access -> access.write() == write)
                .toList();
    }

    private Map<Access, Tally> tallies() {
        Map<Access, Tally> tallies = new HashMap<>();
        plan.accesses().forEach(access -> tallies.put(access, new Tally()));
        return tallies;
    }

    /**
     * Both streams, until the outage is over, or for so long; what is under way then is awaited, and is in the figures:
     * a stall may be the last.
     */
    private static void load(
            Stream reader, Stream writer, Map<Access, Tally> tallies, @Nullable Outage outage, long nanos) {
        long from = System.nanoTime();
        boolean goesOn = true;
        while (goesOn || reader.busy || writer.busy) {
            goesOn = goesOn && (outage == null ? System.nanoTime() - from < nanos : !outage.done());
            reader.step(tallies, goesOn);
            writer.step(tallies, goesOn);
        }
        tallies.values().forEach(Tally::endTurn);
    }

    private void add(
            Kind kind, double memoryOverhead, Map<Access, Tally> quiet, Map<Access, Tally> during, Rows.Repair repair) {
        for (Access access : plan.accesses()) {
            Map<Access, Tally> baseline = before.get(access.write() ? Kind.TWO_COPIES : Kind.ONE_COPY);
            rows.add(new Rows.Figure(
                    kind,
                    access,
                    fault,
                    Objects.requireNonNull(during.get(access)),
                    quiet.get(access),
                    baseline == null ? null : baseline.get(access),
                    memoryOverhead,
                    repair));
        }
    }
}
