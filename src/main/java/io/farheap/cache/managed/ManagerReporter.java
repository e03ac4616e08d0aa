package io.farheap.cache.managed;

import io.farheap.control.ControlException;
import io.farheap.control.ControlException.Code;
import io.farheap.manager.Allocation;
import io.farheap.manager.AllocationCandidate;
import io.farheap.manager.Reclaim;
import io.farheap.manager.RegionShare;
import io.farheap.manager.client.ManagerConnection;
import io.farheap.remote.contract.RemoteRegion;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** Tells a cache's manager what the cache has, and where. Any thread. */
final class ManagerReporter {

    private static final System.Logger LOG = System.getLogger(ManagerReporter.class.getName());
    /** Between two attempts to tell a manager that does not answer. */
    private static final long RETRY_MILLIS = 500;
    /** Of what the manager does not take, until it has heard of it from the servers too. */
    private static final int MOST_REFUSALS = 20;

    private final ManagerConnection manager;
    private final long cacheId;
    private final String name;
    private final BooleanSupplier closed;
    /** With which the cache runs. */
    private volatile AllocationCandidate candidate;

    /** @param closed whether it is time to end */
    ManagerReporter(ManagerConnection manager, Allocation allocation, String name, BooleanSupplier closed) {
        this.manager = manager;
        this.cacheId = allocation.cacheId();
        this.name = name;
        this.closed = closed;
        this.candidate = allocation.candidate();
    }

    AllocationCandidate candidate() {
        return candidate;
    }

    /**
     * Again until the manager has heard where the cache is after a reclaim, or that is over.
     *
     * @return whether the manager is to hear it anew
     */
    boolean moved(ManagedCache cache, Reclaim alert) {
        while (!closed.getAsBoolean()) {
            try {
                // What has moved in part needs the server that leaves as much as what has not.
                tell(cache, alert.generation(), alert.server());
                return false;
            } catch (ControlException e) {
                if (refused(e)) {
                    LOG.log(
                            System.Logger.Level.WARNING,
                            "the manager does not take where cache " + name + " is: " + e.getMessage());
                    return e.code() != Code.NOT_FOUND;
                }
            }
            if (!pause()) {
                return false;
            }
        }
        return false;
    }

    /** Until the manager has heard what the cache is now, or takes it for nothing. */
    void changed(ManagedCache cache) {
        for (int refusals = 0; refusals < MOST_REFUSALS && !closed.getAsBoolean(); ) {
            try {
                now(cache);
                return;
            } catch (RuntimeException e) {
                // It may not have heard yet that a server has something of the cache.
                refusals += !(e instanceof ControlException answer) || refused(answer) ? 1 : 0;
                if (refusals == MOST_REFUSALS) {
                    LOG.log(
                            System.Logger.Level.WARNING,
                            "the manager does not take how cache " + name + " has changed: " + e.getMessage());
                }
            }
            if (!pause()) {
                return;
            }
        }
    }

    /** What the cache is now; what was planned for it is over. */
    void now(ManagedCache cache) {
        long generation =
                manager.call(asked -> asked.describe(cacheId)).allocation().generation();
        Allocation told = tell(cache, generation, null);
        if (!told.candidate().equals(candidate)) {
            // It has heard that the cache became another, and nobody heard that it did.
            cache.unmoved(() -> {
                Allocation again =
                        manager.call(asked -> asked.reallocate(cacheId, cache.capacity(), List.of(candidate)));
                return tell(again.generation(), cache.capacity(), candidate, shares(cache, null));
            });
        }
    }

    private Allocation tell(ManagedCache cache, long generation, @Nullable String leaving) {
        // As it is at one moment: a move or another capacity waits.
        return cache.unmoved(() -> tell(generation, cache.capacity(), null, shares(cache, leaving)));
    }

    private Allocation tell(long generation, long bytes, @Nullable AllocationCandidate now, List<RegionShare> shares) {
        return manager.call(told -> told.moved(cacheId, generation, bytes, now, shares));
    }

    /**
     * What was planned is so, or is about to be. Where this fails it is not.
     *
     * @param regions of those that there are so many stay
     * @param more come after these
     */
    void become(ManagedCache cache, Allocation plan, long bytes, int regions, List<RemoteRegion> more) {
        List<RegionShare> shares = shares(cache, null, regions, more);
        tell(plan.generation(), bytes, plan.candidate(), shares);
        candidate = plan.candidate();
    }

    private static List<RegionShare> shares(ManagedCache cache, @Nullable String leaving) {
        return shares(cache, leaving, cache.regions(), List.of());
    }

    private static List<RegionShare> shares(
            ManagedCache cache, @Nullable String leaving, int count, List<RemoteRegion> more) {
        Map<String, Integer> regions = new TreeMap<>();
        for (int region = 0; region < count; region++) {
            String server = leaving != null && cache.uses(region, leaving) ? leaving : cache.serverOf(region);
            regions.merge(server, 1, Integer::sum);
        }
        more.forEach(region -> regions.merge(region.server().address(), 1, Integer::sum));
        return regions.entrySet().stream()
                .map(server -> new RegionShare(server.getKey(), server.getValue()))
                .toList();
    }

    private static boolean refused(ControlException e) {
        return switch (e.code()) {
            case NOT_FOUND, INVALID_ARGUMENT, BUSY, OUT_OF_MEMORY -> true;
            default -> false;
        };
    }

    /** @return false where it is time to end */
    private static boolean pause() {
        try {
            Thread.sleep(RETRY_MILLIS);
            return true;
        } catch (InterruptedException e) {
            return false;
        }
    }
}
