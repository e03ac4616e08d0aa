package io.farheap.bench.resilience;

import io.farheap.lifetime.CloseStack;
import io.farheap.lifetime.Closing;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * All kinds on the same servers, in turns: one side after another, again and again, each blocking with one request
 * under way. One thread.
 */
final class TurnsPart implements AutoCloseable {

    private record Side(Kind kind, FarSide side, Requester requester, double memoryOverhead) {}

    private record Key(String kind, Access access) {}

    private final Plan plan;
    private final Rows rows;
    private final CloseStack opened = new CloseStack();
    private final Cluster cluster;
    private final List<Side> sides = new ArrayList<>();
    private final Map<Key, Tally> withoutFault = new HashMap<>();

    /** @param spare servers beside those that a range needs */
    TurnsPart(Plan plan, Rows rows, int spare) {
        this.plan = plan;
        this.rows = rows;
        try {
            int servers = spare + plan.kinds().stream().mapToInt(Kind::splits).max().orElseThrow();
            cluster = opened.add(new Cluster(servers, plan.regions(servers), plan.regionBytes()));
            long seed = 1;
            for (Kind kind : plan.kinds()) {
                FarSide side = opened.add(kind.open(cluster.memory(), plan.bytes()));
                Shadow shadow = opened.add(new Shadow(plan.bytes(), seed++));
                Requester requester = opened.add(
                        new Requester(side.open(), shadow, plan.pageBytes(), plan.bytes(), 1, 0));
                requester.fill();
                sides.add(new Side(kind, side, requester, side.memoryOverhead()));
            }
            warmUp();
        } catch (Throwable e) {
            Closing.after(e, opened);
            throw e;
        }
    }

    private void warmUp() {
        for (Access access : plan.accesses()) {
            for (Side side : sides) {
                side.requester().run(access, plan.nanos() / 2, new Tally());
            }
        }
    }

    void none() {
        rows.title("none");
        withoutFault.putAll(measure("none"));
    }

    /** One server is late. */
    void straggler(double part, long nanos) {
        rows.title("straggler");
        try (ServerFaults faults = new ServerFaults(cluster.server(0).pid())) {
            faults.slow(part, nanos);
            measure("straggler");
        }
    }

    /** One server stores and returns wrong bytes. */
    void corruption(double part) {
        rows.title("corruption");
        try (ServerFaults faults = new ServerFaults(cluster.server(0).pid())) {
            faults.corrupt(part);
            measure("corruption");
        }
    }

    private Map<Key, Tally> measure(String fault) {
        Map<Key, Tally> all = new HashMap<>();
        for (Access access : plan.accesses()) {
            Map<Kind, Tally> tallies = new HashMap<>();
            sides.forEach(side -> tallies.put(side.kind(), new Tally()));
            for (int turn = 0; turn < plan.turns(); turn++) {
                for (Side side : sides) {
                    Tally tally = tallies.get(side.kind());
                    side.requester().run(access, plan.turnNanos(), tally);
                    tally.endTurn();
                }
            }
            for (Side side : sides) {
                Tally tally = tallies.get(side.kind());
                if (access.write()) {
                    tally.addWrong(side.requester().verify());
                }
                all.put(new Key(side.kind().name(), access), tally);
            }
            for (Side side : sides) {
                rows.add(new Rows.Figure(
                        side.kind(),
                        access,
                        fault,
                        tallies.get(side.kind()),
                        withoutFault.get(new Key(side.kind().name(), access)),
                        baseline(all, access),
                        side.memoryOverhead(),
                        Rows.Repair.NONE));
            }
        }
        return all;
    }

    private static @Nullable Tally baseline(Map<Key, Tally> all, Access access) {
        return all.get(new Key(access.write() ? Kind.TWO_COPIES : Kind.ONE_COPY, access));
    }

    @Override
    public void close() {
        opened.close();
    }
}
