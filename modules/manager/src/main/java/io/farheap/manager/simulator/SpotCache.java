package io.farheap.manager.simulator;

import io.farheap.manager.CacheRequest;
import io.farheap.manager.Reclaim;
import io.farheap.manager.simulator.SpotMarket.SpotMachine;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** A cache on the machines of a simulated spot market, as its client knows it. One thread at a time. */
final class SpotCache {

    /**
     * A move off a machine that its client makes; times are ms.
     *
     * @param endedAt when all of its regions have moved, and its client reports that
     */
    record ClientMove(Reclaim alert, SpotMachine source, long beganAt, long endedAt) {}

    private static final long NEVER = Long.MAX_VALUE;

    final CacheRequest request;
    /** When its client closes it, in ms. */
    final long endsAt;
    /** By machine's number: regions on it. Empty as long as it waits for room. */
    final Map<Long, Integer> regions = new TreeMap<>();

    @Nullable
    ClientMove move;

    /** When its client reports its state again, in ms, since the manager did not take the last report. */
    private long reportsAt = NEVER;

    SpotCache(CacheRequest request, long endsAt) {
        this.request = request;
        this.endsAt = endsAt;
    }

    long id() {
        return request.cacheId();
    }

    int wanted() {
        return (int) (request.capacity() / CostMeter.GIB);
    }

    void reportAt(long millis) {
        reportsAt = millis;
    }

    void reported() {
        reportsAt = NEVER;
    }

    boolean isDue(long now) {
        return reportsAt <= now;
    }

    /** Whether its client has anything to do. */
    boolean isBusy() {
        return waits() || move != null || reportsAt != NEVER;
    }

    boolean waits() {
        return regions.isEmpty();
    }
}
