package io.farheap.bench.resilience;

import io.farheap.resilience.contract.Health;
import java.util.Objects;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** Kills a server of a range; a write finds that its slab is gone, and the slab is then regenerated. One thread. */
final class SlabLoss {

    /** Each turn kills a server, and has a spare one for it. */
    private static final int MOST_TURNS = 3;

    private final ServerCluster cluster;
    private final FarSide side;
    private final Requester requester;
    private final RequestKind page;
    private long regenerated;

    SlabLoss(ServerCluster cluster, FarSide side, Requester requester, int pageBytes) {
        this.cluster = cluster;
        this.side = side;
        this.requester = requester;
        this.page = new RequestKind(true, pageBytes);
    }

    static int turns(ResiliencePlan plan) {
        return Math.min(plan.turns(), MOST_TURNS);
    }

    /** Returns the kinds that regenerate lost data. */
    static Stream<MemoryKind> kinds(ResiliencePlan plan) {
        return plan.kinds().stream().filter(kind -> kind.resilience() != null && kind.survives());
    }

    Health health() {
        return Objects.requireNonNull(side.health());
    }

    /** Kills the first server that has a slab. */
    void kill() {
        Health health = health();
        regenerated = health.regenerated();
        String address = health.servers().stream()
                .filter(server -> server.slabs() > 0 && !server.lost())
                .map(Health.Server::address)
                .findFirst()
                .orElseThrow();
        long pid = IntStream.range(0, cluster.size())
                .filter(i -> cluster.server(i).address().equals(address))
                .mapToLong(i -> cluster.server(i).pid())
                .findFirst()
                .orElseThrow();
        ProcessHandle.of(pid).ifPresent(ProcessHandle::destroyForcibly);
    }

    /**
     * Called after {@link #kill}: writes until the slab is void.
     *
     * @return when that write was issued, by {@link System#nanoTime}
     */
    long makeVoid() {
        long from = System.nanoTime();
        long begun = from;
        while (!isBegun()) {
            begun = System.nanoTime();
            requester.run(page, 0, new RequestTally());
            awaitInTime(from);
        }
        return begun;
    }

    private boolean isBegun() {
        return !health().whole() || health().regenerated() != regenerated;
    }

    void awaitWhole() {
        long from = System.nanoTime();
        while (!health().whole()) {
            awaitInTime(from);
            try {
                Outage.pause();
            } catch (InterruptedException e) {
                throw new IllegalStateException("interrupted while a slab is regenerated", e);
            }
        }
    }

    /** @throws IllegalStateException if a slab should have been whole by now */
    static void awaitInTime(long from) {
        if (System.nanoTime() - from > Outage.PATIENCE_NANOS) {
            throw new IllegalStateException("a slab of a killed server is not regenerated in "
                    + Outage.PATIENCE_NANOS / 1_000_000_000L + " s; take a smaller --slab");
        }
    }
}
