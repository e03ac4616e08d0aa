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
     * @param doneAt when its client reports it: it repeats a report that the manager did not take
     */
    record ClientMove(Reclaim alert, SpotMachine source, long beganAt, long endedAt, long doneAt) {}

    final CacheRequest request;
    /** When its client closes it, in ms. */
    final long endsAt;
    /** By machine's number: regions on it. Empty as long as it waits for room. */
    final Map<Long, Integer> regions = new TreeMap<>();

    @Nullable
    ClientMove move;

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

    boolean waits() {
        return regions.isEmpty();
    }
}
