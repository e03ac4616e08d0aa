package io.farheap.cache.managed;

import io.farheap.cache.contract.CacheException;
import io.farheap.manager.Allocation;
import io.farheap.manager.AllocationCandidate;
import io.farheap.manager.RegionShare;
import io.farheap.memory.Plurals;
import io.farheap.migration.MigrationOptions;
import io.farheap.remote.contract.RemoteRegion;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.function.BooleanSupplier;

/**
 * The change of a managed cache to another capacity or objective, as its manager has planned it (Redy, sections 3.2 and
 * 6.2): it takes new regions, leaves servers, and reports the result. The caller keeps other moves and changes out
 * meanwhile, and calls {@link #undo} if a step fails.
 */
public final class ManagedReshape {

    /** How many regions move at most before it checks whether a server is about to end. */
    private static final int MOST_AT_ONCE = 8;

    private final ManagedServers servers;
    private final ManagerReporter telling;
    private final ManagedCache cache;
    private final MigrationOptions how;
    private final Allocation plan;
    private final long bytes;
    private final BooleanSupplier urgent;
    private final Runnable changed;
    private final List<String> connected = new ArrayList<>();
    /** The room for regions that move: a server for each region. */
    private final Deque<String> room = new ArrayDeque<>();

    /**
     * @param urgent whether a server that the cache uses is about to end
     * @param changed reports the cache's state to the manager soon
     */
    ManagedReshape(
            ManagedServers servers,
            ManagerReporter telling,
            ManagedCache cache,
            MigrationOptions how,
            Allocation plan,
            long bytes,
            BooleanSupplier urgent,
            Runnable changed) {
        this.servers = servers;
        this.telling = telling;
        this.cache = cache;
        this.how = how;
        this.plan = plan;
        this.bytes = bytes;
        this.urgent = urgent;
        this.changed = changed;
    }

    /** The configuration that the manager has chosen. */
    public AllocationCandidate candidate() {
        return plan.candidate();
    }

    /**
     * Connects the cache to the servers that have room for it, and takes the new regions.
     *
     * @param missing how many regions
     * @param more receives them, also those that were taken before this fails
     */
    public void take(int missing, List<RemoteRegion> more) {
        for (RegionShare share : plan.reserved()) {
            if (servers.connect(cache, share.address())) {
                connected.add(share.address());
            }
            int regions = Math.min(share.regions(), missing - more.size());
            if (regions > 0) {
                more.addAll(cache.take(share.address(), regions));
            }
            for (int left = share.regions() - regions; left > 0; left--) {
                room.add(share.address());
            }
        }
        if (more.size() != missing) {
            throw new CacheException("the manager has "
                    + Plurals.of(more.size(), "more region") + " for the cache, which needs " + missing
                    + "; another change is on its way: try again");
        }
    }

    /**
     * Moves the regions that stay in the cache off the servers that it leaves; gives up if another server is about to
     * end.
     *
     * @param regions how many regions the cache keeps
     */
    public void move(int regions) {
        for (String server : plan.left()) {
            List<Integer> there = cache.hottestFirst(ManagedServers.regionsOn(cache, server).stream()
                    .filter(region -> region < regions)
                    .toList());
            for (int from = 0; from < there.size(); ) {
                int to = from;
                String target = next(server);
                int most = Math.min(there.size(), from + MOST_AT_ONCE);
                while (to < most && target.equals(room.peek())) {
                    room.remove();
                    to++;
                }
                cache.migrate(there.subList(from, to), server, target, how, () -> false);
                from = to;
            }
        }
    }

    private String next(String server) {
        if (urgent.getAsBoolean()) {
            throw new CacheException("the cache is to leave a memory server before that ends; try again when it has");
        }
        String target = room.peek();
        if (target == null) {
            throw new CacheException("the cache has more regions on memory server " + server
                    + " than its manager has found room for; another change is on its way: try again");
        }
        return target;
    }

    /** Reports that the change is done, or about to be. If this fails, the change must not be made. */
    public void become(int regions, List<RemoteRegion> more) {
        telling.become(cache, plan, bytes, regions, more);
    }

    /** Ends a change that is done: leaves the servers that the cache does not need any more. */
    public void end() {
        plan.left().forEach(server -> servers.leaveUnused(cache, server));
        if (!plan.left().isEmpty()) {
            cache.stay();
        }
    }

    /** Gives the change up. Regions may have moved. */
    public void undo() {
        if (!plan.left().isEmpty()) {
            cache.stay();
        }
        connected.forEach(server -> servers.leaveUnused(cache, server));
        // The manager may have received the report of the change.
        changed.run();
    }
}
