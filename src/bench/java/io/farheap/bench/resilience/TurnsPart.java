package io.farheap.bench.resilience;

import io.farheap.bench.report.ModelLateness;
import io.farheap.bench.report.Rotation;
import io.farheap.bench.report.TurnWarmUp;
import io.farheap.command.ServerFaults;
import io.farheap.command.Sizes;
import io.farheap.lifetime.CloseStack;
import io.farheap.lifetime.Closeables;
import io.farheap.measure.SoftverbsModel;
import io.farheap.resilience.contract.Health;
import io.farheap.verbs.Devices;
import io.farheap.verbs.VerbsLibrary;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/**
 * Measures all kinds on the same servers, in turns: one side after another, again and again, in an order that rotates;
 * each blocking with one request under way, except for bursts. One thread.
 */
final class TurnsPart implements AutoCloseable {

    private record Side(
            MemoryKind kind, FarSide side, ShadowMemory shadow, Requester requester, double memoryOverhead) {}

    private record Key(MemoryKind kind, RequestKind access) {}

    /** A turn of a side. */
    private interface Turn {
        void run(Side side, RequestKind access, long nanos, RequestTally tally);
    }

    private static final int WARM_UP_FACTOR = 2;

    private static final Turn ONE_UNDER_WAY =
            (side, access, nanos, tally) -> side.requester().run(access, nanos, tally);

    private final ResiliencePlan plan;
    private final ResultRows rows;
    private final CloseStack opened = new CloseStack();
    private final ServerCluster cluster;
    private final List<Side> sides = new ArrayList<>();
    private final Map<Key, RequestTally> withoutFault = new HashMap<>();
    /** By kind that has left the server that corrupts: ms since the corruption began. */
    private final Map<MemoryKind, Double> left = new HashMap<>();

    private final ModelLateness lateness;
    private final Rotation rotation;
    /** The sides and requests of which the last turns of the warm-up without a fault agreed. */
    private final Set<Key> settled;

    private long corruptSince;

    /** @param spare servers beside those that a range needs */
    TurnsPart(ResiliencePlan plan, ResultRows rows, int spare) {
        this.plan = plan;
        this.rows = rows;
        try {
            int servers = spare
                    + plan.kinds().stream().mapToInt(MemoryKind::splits).max().orElseThrow();
            cluster = opened.add(new ServerCluster(servers, plan.regions(servers), plan.regionBytes()));
            long seed = 1;
            for (MemoryKind kind : plan.kinds()) {
                FarSide side = opened.add(kind.open(cluster.memory(), plan.bytes()));
                ShadowMemory shadow = opened.add(new ShadowMemory(plan.bytes(), seed++));
                Requester requester =
                        opened.add(new Requester(side.open(), shadow, plan.pageBytes(), plan.bytes(), 1, 0));
                requester.fill();
                sides.add(new Side(kind, side, shadow, requester, side.memoryOverhead()));
            }
            String[] addresses = new String[servers];
            for (int i = 0; i < servers; i++) {
                addresses[i] = cluster.server(i).address();
            }
            lateness = opened.add(new ModelLateness(addresses));
            rotation = new Rotation(sides.size(), plan.turns());
            settled = warmUp(ONE_UNDER_WAY);
        } catch (Throwable e) {
            Closeables.after(e, opened);
            throw e;
        }
    }

    /**
     * Warms up in at most twice as many turns as count, three at least. As many as count come first: the last code is
     * compiled after about a second.
     *
     * @return the sides and requests of which the last three turns agreed within 5%
     */
    private Set<Key> warmUp(Turn how) {
        int most = Math.max(TurnWarmUp.AGREEING, WARM_UP_FACTOR * plan.turns());
        Set<Key> agreed = new HashSet<>();
        for (RequestKind access : plan.accesses()) {
            TurnWarmUp warmUp = TurnWarmUp.untimed(sides.size());
            for (int turn = 1; turn <= most && (turn <= most / 2 || !warmUp.settled()); turn++) {
                for (int place : rotation.order(-turn)) {
                    RequestTally tally = new RequestTally();
                    how.run(sides.get(place), access, plan.turnNanos(), tally);
                    tally.endTurn();
                    warmUp.add(place, tally.median());
                }
            }
            for (int place = 0; place < sides.size(); place++) {
                if (warmUp.settled(place)) {
                    agreed.add(new Key(sides.get(place).kind(), access));
                }
            }
        }
        return agreed;
    }

    void none() {
        rows.title(FaultOptions.NONE);
        withoutFault.putAll(measure(FaultOptions.NONE, ONE_UNDER_WAY, 1, settled));
    }

    /** One server is late, or all of them are. */
    void straggler(FaultOptions.Straggler late) {
        rows.title(FaultOptions.STRAGGLER);
        try (CloseStack faults = new CloseStack()) {
            for (int i = 0; i < (late.allServers() ? cluster.size() : 1); i++) {
                faults.add(new ServerFaults(cluster.server(i).pid())).slow(late.part(), late.nanos());
            }
            Set<Key> warm = warmUp(ONE_UNDER_WAY);
            measure(FaultOptions.STRAGGLER, ONE_UNDER_WAY, 1, warm);
        }
    }

    /** Another process reads and writes pieces of one server, as fast as it can. */
    void background(int pieceBytes) {
        rows.title(FaultOptions.BACKGROUND);
        int piece = (int) Math.min(pieceBytes, plan.regionBytes());
        try (BackgroundProcess load = new BackgroundProcess(cluster.server(0).address(), piece)) {
            Set<Key> warm = warmUp(ONE_UNDER_WAY);
            measure(FaultOptions.BACKGROUND, ONE_UNDER_WAY, 1, warm);
            double gigabits = load.end();
            rows.report().summary().put("background_piece", piece).put("background_gbit_s", gigabits);
            boolean modelled = Devices.library() != VerbsLibrary.SOFT
                    || !rows.report().model().equals(SoftverbsModel.NONE);
            rows.note(String.format(
                    Locale.ROOT,
                    "another process read and wrote one server in pieces of %s: %.1f Gbit/s%s",
                    Sizes.format(piece),
                    gigabits,
                    modelled ? "" : "; without a modelled NIC it shares nothing but processors and memory"));
        }
    }

    /** Issues {@code count} requests at once, and then pauses, again and again. */
    void burst(int count) {
        rows.title(FaultOptions.BURST);
        try (CloseStack bursts = new CloseStack()) {
            Map<Side, RequestBurst> bySide = new HashMap<>();
            for (Side side : sides) {
                RequestBurst burst =
                        new RequestBurst(side.side(), side.shadow(), plan.pageBytes(), plan.bytes(), count);
                bySide.put(side, bursts.add(burst));
            }
            Turn turn = (side, access, nanos, tally) ->
                    Objects.requireNonNull(bySide.get(side)).run(access, nanos, tally);
            Set<Key> warm = warmUp(turn);
            measure(FaultOptions.BURST, turn, count, warm);
            rows.report().summary().put("burst", count);
        }
    }

    /** One server stores and returns wrong bytes. */
    void corruption(double part) {
        rows.title(FaultOptions.CORRUPTION);
        try (ServerFaults faults = new ServerFaults(cluster.server(0).pid())) {
            corruptSince = System.nanoTime();
            faults.corrupt(part);
            // A warm-up would miss what the first wrong bytes cost, and repair comes to an end: it never settles.
            measure(FaultOptions.CORRUPTION, ONE_UNDER_WAY, 1, Set.of());
        }
    }

    /**
     * @param inFlight requests of a turn that are under way at a time
     * @param warm the sides and requests that had settled, under the fault
     */
    private Map<Key, RequestTally> measure(String fault, Turn how, int inFlight, Set<Key> warm) {
        Map<Key, RequestTally> all = new HashMap<>();
        for (RequestKind access : plan.accesses()) {
            Map<MemoryKind, RequestTally> tallies = new HashMap<>();
            sides.forEach(side -> tallies.put(side.kind(), new RequestTally()));
            for (int turn = 0; turn < plan.turns(); turn++) {
                for (int place : rotation.order(turn)) {
                    Side side = sides.get(place);
                    RequestTally tally = Objects.requireNonNull(tallies.get(side.kind()));
                    lateness.restart();
                    how.run(side, access, plan.turnNanos(), tally);
                    tally.endTurn(lateness);
                    if (fault.equals(FaultOptions.CORRUPTION)) {
                        look(side);
                    }
                }
            }
            for (Side side : sides) {
                RequestTally tally = Objects.requireNonNull(tallies.get(side.kind()));
                if (access.write()) {
                    tally.verified(side.requester().verify());
                }
                Key key = new Key(side.kind(), access);
                tally.settled(warm.contains(key));
                all.put(key, tally);
            }
            for (Side side : sides) {
                rows.add(new ResultRows.FigureRow(
                        side.kind(),
                        access,
                        fault,
                        Objects.requireNonNull(tallies.get(side.kind())),
                        tallies,
                        withoutFault.get(new Key(side.kind(), access)),
                        tallies.get(plan.baseline(access)),
                        side.memoryOverhead(),
                        side.side().localBytes(),
                        inFlight,
                        repair(side, fault)));
            }
        }
        return all;
    }

    /** Observes, once a turn, whether a side has given up its slabs on the first server and has new ones. */
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

    private ResultRows.Repair repair(Side side, String fault) {
        Health health = side.side().health();
        return health == null || !fault.equals(FaultOptions.CORRUPTION)
                ? ResultRows.Repair.NONE
                : ResultRows.Repair.of(left.getOrDefault(side.kind(), Double.NaN), health);
    }

    @Override
    public void close() {
        opened.close();
    }
}
