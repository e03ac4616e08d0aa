package io.farheap.bench.resilience;

import io.farheap.lifetime.CloseStack;
import io.farheap.lifetime.Closing;
import io.farheap.resilience.Health;
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

    private static final String CORRUPTION = "corruption";

    private record Side(Kind kind, FarSide side, Requester requester, double memoryOverhead) {}

    private record Key(String kind, Access access) {}

    private final Plan plan;
    private final Rows rows;
    private final CloseStack opened = new CloseStack();
    private final Cluster cluster;
    private final List<Side> sides = new ArrayList<>();
    private final Map<Key, Tally> withoutFault = new HashMap<>();
    /** Of those that have left the server that corrupts: ms since it began to. */
    private final Map<Kind, Double> left = new HashMap<>();

    private long corruptSince;

    /** @param spare servers beside those that a range needs */
    TurnsPart(Plan plan, Rows rows, int spare) {
        this.plan = plan;
        this.rows = rows;
        try {
            int servers =
                    spare + plan.kinds().stream().mapToInt(Kind::splits).max().orElseThrow();
            cluster = opened.add(new Cluster(servers, plan.regions(servers), plan.regionBytes()));
            long seed = 1;
            for (Kind kind : plan.kinds()) {
                FarSide side = opened.add(kind.open(cluster.memory(), plan.bytes()));
                Shadow shadow = opened.add(new Shadow(plan.bytes(), seed++));
                Requester requester =
                        opened.add(new Requester(side.open(), shadow, plan.pageBytes(), plan.bytes(), 1, 0));
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
        rows.title(CORRUPTION);
        try (ServerFaults faults = new ServerFaults(cluster.server(0).pid())) {
            corruptSince = System.nanoTime();
            faults.corrupt(part);
            measure(CORRUPTION);
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
                    if (fault.equals(CORRUPTION)) {
                        look(side);
                    }
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
                        repair(side, fault)));
            }
        }
        return all;
    }

    /** Whether it has given its slabs on the first server up, and has new ones: to a turn. */
    private void look(Side side) {
        Health health = side.side().health();
        if (health == null || left.containsKey(side.kind()) || !health.whole()) {
            return;
        }
        String corrupting = cluster.server(0).address();
        if (health.servers().stream()
                .noneMatch(server -> server.slabs() > 0 && server.address().equals(corrupting))) {
            left.put(side.kind(), (System.nanoTime() - corruptSince) / 1e6);
        }
    }

    private Rows.Repair repair(Side side, String fault) {
        Health health = side.side().health();
        return health == null || !fault.equals(CORRUPTION)
                ? Rows.Repair.NONE
                : new Rows.Repair(
                        left.getOrDefault(side.kind(), Double.NaN),
                        health.regenerationBytesRead(),
                        health.regenerationBytesRebuilt());
    }

    private static @Nullable Tally baseline(Map<Key, Tally> all, Access access) {
        return all.get(new Key(access.write() ? Kind.TWO_COPIES : Kind.ONE_COPY, access));
    }

    @Override
    public void close() {
        opened.close();
    }
}
