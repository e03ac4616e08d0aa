package io.farheap.manager.simulator;

import io.farheap.manager.CacheRequest;
import io.farheap.manager.Reclaim;
import io.farheap.manager.simulator.SpotMarket.SpotMachine;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** A cache on the machines of a simulated spot market, as its client knows it. One thread at a time. */
final class SpotCache {

    /**
     * A move off a machine that its client makes; times are ms.
     *
     * @param awayMillis for how long its client was away when its alert came; 0 if it was there
     * @param endedAt when all of its regions have moved, and its client reports that
     */
    record ClientMove(Reclaim alert, SpotMachine source, long awayMillis, long beganAt, long endedAt) {

        /** Whether it would end before its machine if its client had been there. */
        boolean isLateByAbsence() {
            return awayMillis > 0 && endedAt > source.endsAt() && endedAt - awayMillis <= source.endsAt();
        }
    }

    private static final long NEVER = Long.MAX_VALUE;

    final CacheRequest request;
    /** When its client closes it, in ms. */
    final long endsAt;
    /** When it becomes smaller by a region, in ms; it has more than one. */
    private long shrinksAt;
    /** Its regions of a GiB, with those that it waits for. */
    private int wanted;
    /** By machine's number: regions on it. Empty as long as it waits for room. */
    final Map<Long, Integer> regions = new TreeMap<>();

    @Nullable
    ClientMove move;

    /** The machines off which its client has begun moves. */
    final Set<SpotMachine> sources = new HashSet<>();

    /** When its client reports its state again, in ms, since the manager did not take the last report. */
    private long reportsAt = NEVER;

    /** @param shrinksAt when it becomes smaller, in ms; later than its end if it does not */
    SpotCache(CacheRequest request, long endsAt, long shrinksAt) {
        this.request = request;
        this.endsAt = endsAt;
        this.shrinksAt = shrinksAt;
        this.wanted = (int) (request.capacity() / CostMeter.GIB);
    }

    long id() {
        return request.cacheId();
    }

    int wanted() {
        return wanted;
    }

    boolean isTooLarge(long now) {
        return shrinksAt <= now && wanted > 1 && !waits();
    }

    void shrinks() {
        shrinksAt = NEVER;
        wanted--;
    }

    /** Whether its client leaves or has left another machine with about the same end. */
    boolean leavesOthers(SpotMachine machine) {
        return sources.stream()
                .anyMatch(other ->
                        other != machine && Math.abs(other.endsAt() - machine.endsAt()) < SpotMarket.NOTICE_MILLIS);
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
