package io.farheap.cache.managed;

import io.farheap.cache.contract.CacheException;
import io.farheap.manager.Allocation;
import io.farheap.manager.AllocationCandidate;
import io.farheap.manager.RegionShare;
import io.farheap.migration.MigrationOptions;
import io.farheap.remote.contract.RemoteRegion;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.function.BooleanSupplier;

/**
 * A managed cache on its way to another capacity or objective, as its manager has planned it (Redy, sections 3.2 and
 * 6.2): it takes what is new, leaves servers, and says so. The caller has the cache's moves and changes for itself
 * meanwhile; who fails calls {@link #undo}.
 */
public final class ManagedReshape {

    /** So many at most until it looks whether there is something more urgent. */
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
    /** Where there is room for what moves: a server for each region. */
    private final Deque<String> room = new ArrayDeque<>();

    /**
     * @param urgent whether a server is about to end that the cache is on
     * @param changed has the manager hear what the cache is
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

    /** The configuration with which it is to run. */
    public AllocationCandidate candidate() {
        return plan.candidate();
    }

    /**
     * Connects the cache to the servers that have room for it, and takes what is new.
     *
     * @param missing how many regions
     * @param more gets them, also those that were taken before this fails
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
            throw new CacheException("the manager has " + more.size() + " more regions for the cache, which needs "
                    + missing + "; another change is on its way: try again");
        }
    }

    /**
     * Moves what stays off the servers that the cache leaves; it gives up where another server is about to end.
     *
     * @param regions so many of the cache's stay
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
                cache.migrate(there.subList(from, to), server, target, how);
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

    /** Says that it is done, or about to be. Where this fails it is not. */
    public void become(int regions, List<RemoteRegion> more) {
        telling.become(cache, plan, bytes, regions, more);
    }

    /** It is done: the cache needs the servers no more that it leaves. */
    public void end() {
        plan.left().forEach(server -> servers.leaveUnused(cache, server));
        if (!plan.left().isEmpty()) {
            cache.stay();
        }
    }

    /** The cache stays what it was. Regions may have moved. */
    public void undo() {
        if (!plan.left().isEmpty()) {
            cache.stay();
        }
        connected.forEach(server -> servers.leaveUnused(cache, server));
        // It may have heard that the cache is another.
        changed.run();
    }
}
