package io.farheap.cache.managed;

import io.farheap.control.ControlException;
import io.farheap.control.ControlException.Code;
import io.farheap.manager.Allocation;
import io.farheap.manager.AllocationCandidate;
import io.farheap.manager.CacheRequest;
import io.farheap.manager.Reclaim;
import io.farheap.manager.ReclaimOutcome;
import io.farheap.manager.RegionShare;
import io.farheap.manager.client.ManagerConnection;
import io.farheap.remote.contract.RemoteRegion;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.BooleanSupplier;
import java.util.function.LongFunction;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Reports to a cache's manager what regions the cache has, and where. Any thread. */
final class ManagerReporter {

    private static final System.Logger LOG = System.getLogger(ManagerReporter.class.getName());
    /** Between two reports to a manager that does not answer. */
    private static final long RETRY_MILLIS = 500;
    /**
     * The log has a warning once the manager has refused this many reports: it accepts regions only after their servers
     * have reported them too.
     */
    private static final int MANY_REFUSALS = 20;

    private final ManagerConnection manager;
    private final long cacheId;
    private final String name;
    private final BooleanSupplier closed;
    /** The configuration that the cache runs with. */
    private volatile AllocationCandidate candidate;

    private final long regionBytes;
    private final LongFunction<CacheRequest> terms;
    private final Grants grants;
    /** In sequence; the reclaim worker's thread. */
    private int refusals;

    /**
     * @param grants receives the allocation if the manager takes the cache up again
     * @param terms returns the cache's terms, with a capacity, and with what is left of its lifetime
     * @param closed whether reports have to end
     */
    ManagerReporter(
            ManagerConnection manager,
            Allocation allocation,
            String name,
            Grants grants,
            LongFunction<CacheRequest> terms,
            BooleanSupplier closed) {
        this.regionBytes = allocation.regionBytes();
        this.terms = terms;
        this.grants = grants;
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
     * Reports where the cache is after a reclaim, until the manager accepts or refuses it.
     *
     * @param outcome of the reclaim, by the time of the call
     * @return whether the state has to be reported again
     */
    boolean moved(ManagedCache cache, Reclaim alert, Supplier<ReclaimOutcome> outcome) {
        while (!closed.getAsBoolean()) {
            try {
                // A region that has moved in part still needs the leaving server, as one that has not moved.
                tell(cache, alert.generation(), alert.server(), outcome.get());
                return false;
            } catch (ControlException e) {
                if (refused(e)) {
                    LOG.log(
                            System.Logger.Level.WARNING,
                            "the manager refuses the new places of cache " + name + "'s regions: " + e.getMessage());
                    // A cache that is not known is claimed by the next report.
                    return true;
                }
            }
            if (!pause()) {
                return false;
            }
        }
        return false;
    }

    /**
     * Reports the cache's present state, once. A server may not have reported to the manager yet that it has regions of
     * the cache, and then the manager refuses the report. The reclaim worker's thread.
     *
     * @return false if it has to be reported again
     */
    boolean report(ManagedCache cache) {
        if (closed.getAsBoolean()) {
            return true;
        }
        try {
            now(cache);
        } catch (RuntimeException e) {
            if (e instanceof ControlException unknown && unknown.code() == Code.NOT_FOUND) {
                return claim(cache);
            }
            boolean answered = !(e instanceof ControlException answer) || refused(answer);
            refusals += answered ? 1 : 0;
            if (refusals == MANY_REFUSALS && answered) {
                LOG.log(
                        System.Logger.Level.WARNING,
                        "the manager still refuses the report that cache " + name + " has changed: " + e.getMessage());
            }
            return false;
        }
        if (refusals >= MANY_REFUSALS) {
            LOG.log(
                    System.Logger.Level.INFO,
                    "the manager has accepted the report that cache " + name + " has changed");
        }
        refusals = 0;
        return true;
    }

    /**
     * Claims the cache from a manager that does not know it.
     *
     * @return false if it has to be claimed again; true also if the manager has ended the cache, or no server of the
     *     cache has reported to it: then the leases decide
     */
    private boolean claim(ManagedCache cache) {
        try {
            Allocation again = cache.unmoved(() -> {
                CacheRequest all = terms.apply(cache.capacity());
                List<RegionShare> shares = shares(cache, null);
                return manager.call(asked -> asked.claim(all, grants.generation(), regionBytes, shares));
            });
            grants.put(again);
            if (closed.getAsBoolean()) {
                // The manager may have executed this after it forgot the cache.
                manager.call(asked -> {
                    asked.deallocate(cacheId);
                    return cacheId;
                });
            }
            LOG.log(System.Logger.Level.INFO, "the manager has taken cache " + name + " up again");
            return true;
        } catch (ControlException e) {
            boolean wrong = e.code() == Code.INVALID_ARGUMENT;
            LOG.log(
                    wrong ? System.Logger.Level.WARNING : System.Logger.Level.DEBUG,
                    "the manager does not take cache " + name + " up again: " + e.getMessage());
            return wrong || e.code() == Code.NOT_FOUND;
        }
    }

    /** Reports the cache's present state, which ends a change that the manager has planned for it. */
    void now(ManagedCache cache) {
        long generation =
                manager.call(asked -> asked.describe(cacheId)).allocation().generation();
        Allocation told = tell(cache, generation, null, null);
        if (!told.candidate().equals(candidate)) {
            // The manager has accepted the report of a change, but its answer was lost, so that the cache did not
            // change: the cache has the manager plan its present configuration again, and reports that.
            cache.unmoved(() -> {
                Allocation again =
                        manager.call(asked -> asked.reallocate(cacheId, cache.capacity(), List.of(candidate)));
                return tell(again.generation(), cache.capacity(), candidate, shares(cache, null), null);
            });
        }
    }

    private Allocation tell(
            ManagedCache cache, long generation, @Nullable String leaving, @Nullable ReclaimOutcome outcome) {
        // A consistent state: moves and changes of the capacity wait.
        return cache.unmoved(() -> tell(generation, cache.capacity(), null, shares(cache, leaving), outcome));
    }

    private Allocation tell(
            long generation,
            long bytes,
            @Nullable AllocationCandidate now,
            List<RegionShare> shares,
            @Nullable ReclaimOutcome outcome) {
        Allocation told = manager.call(asked -> asked.moved(cacheId, generation, bytes, now, shares, outcome));
        grants.saw(told.generation());
        return told;
    }

    /**
     * Reports that a planned change is made, or about to be. If this fails, the change must not be made.
     *
     * @param regions how many of the present regions stay
     * @param more the regions that follow these
     */
    void become(ManagedCache cache, Allocation plan, long bytes, int regions, List<RemoteRegion> more) {
        List<RegionShare> shares = shares(cache, null, regions, more);
        tell(plan.generation(), bytes, plan.candidate(), shares, null);
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

    /** @return false if reports have to end */
    private static boolean pause() {
        try {
            Thread.sleep(RETRY_MILLIS);
            return true;
        } catch (InterruptedException e) {
            return false;
        }
    }
}
