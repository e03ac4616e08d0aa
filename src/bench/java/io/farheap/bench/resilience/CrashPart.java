package io.farheap.bench.resilience;

import io.farheap.lifetime.CloseStack;
import io.farheap.resilience.Health;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Servers that are killed under load: each kind on servers of its own, of which as many die at once as it survives. Two
 * sessions request at the same time, one that reads what nobody writes, and one that writes: one thread polls both, so
 * that a write that waits holds up no read, and a read no write. One thread.
 */
final class CrashPart {

    private static final String FAULT = "crash";
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
                busy = !requester.ended(tallies.get(accesses.get(next)));
            } else if (begins) {
                next = (next + 1) % accesses.size();
                requester.begin(accesses.get(next));
                busy = true;
            }
        }
    }

    private final Plan plan;
    private final Rows rows;
    private final Map<String, Map<Access, Tally>> before = new HashMap<>();

    CrashPart(Plan plan, Rows rows) {
        this.plan = plan;
        this.rows = rows;
    }

    void run() {
        rows.title(FAULT);
        plan.kinds().forEach(this::run);
    }

    private void run(Kind kind) {
        int spare = kind.survives() ? kind.kills() : 0;
        int servers = kind.splits() + spare;
        // All of the dead ones' may come to one.
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
            try (Killing killing = new Killing(cluster, side, kind.kills(), plan.nanos())) {
                killing.start();
                load(reader, writer, during, killing, 0);
                wholeMillis = killing.wholeMillis();
            }
            long wrong = whole.verify();
            Health health = side.health();
            Rows.Repair repair = health == null
                    ? Rows.Repair.NONE
                    : new Rows.Repair(wholeMillis, health.regenerationBytesRead(), health.regenerationBytesRebuilt());
            during.forEach((access, tally) -> tally.addWrong(access.write() ? wrong : 0));
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
     * Both streams, until what kills is done, or for so long; what is under way then is awaited, and is in the figures:
     * a stall may be the last.
     */
    private static void load(
            Stream reader, Stream writer, Map<Access, Tally> tallies, @Nullable Killing killing, long nanos) {
        long from = System.nanoTime();
        boolean goesOn = true;
        while (goesOn || reader.busy || writer.busy) {
            goesOn = goesOn && (killing == null ? System.nanoTime() - from < nanos : !killing.done());
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
                    FAULT,
                    during.get(access),
                    quiet.get(access),
                    baseline == null ? null : baseline.get(access),
                    memoryOverhead,
                    repair));
        }
    }
}
