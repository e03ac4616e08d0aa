package io.farheap.cache;

import io.farheap.manager.Allocation;
import io.farheap.manager.Candidate;
import io.farheap.manager.Share;
import io.farheap.migration.MigrationOptions;
import io.farheap.remote.RemoteRegion;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/**
 * A managed cache on its way to another capacity or objective, as its manager has planned it (Redy, sections 3.2 and
 * 6.2): it takes what is new, leaves servers, and says so. The caller has the cache's moves and changes for itself
 * meanwhile; who fails calls {@link #undo}.
 */
final class ManagedReshape {

    private final Management management;
    private final Telling telling;
    private final Management.Owner cache;
    private final MigrationOptions how;
    private final Allocation plan;
    private final long bytes;
    private final List<String> connected = new ArrayList<>();
    /** Where there is room for what moves: a server for each region. */
    private final Deque<String> room = new ArrayDeque<>();

    ManagedReshape(
            Management management,
            Telling telling,
            Management.Owner cache,
            MigrationOptions how,
            Allocation plan,
            long bytes) {
        this.management = management;
        this.telling = telling;
        this.cache = cache;
        this.how = how;
        this.plan = plan;
        this.bytes = bytes;
    }

    /** The configuration with which it is to run. */
    Candidate candidate() {
        return plan.candidate();
    }

    /**
     * Connects the cache to the servers that have room for it, and takes what is new.
     *
     * @param missing how many regions
     * @param more gets them, also those that were taken before this fails
     */
    void take(int missing, List<RemoteRegion> more) {
        for (Share share : plan.reserved()) {
            if (management.connect(cache, share.address())) {
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
     * Moves what stays off the servers that the cache leaves.
     *
     * @param regions so many of the cache's stay
     */
    void move(int regions) {
        for (String server : plan.left()) {
            List<Integer> there = cache.hottestFirst(Management.regionsOn(cache, server).stream()
                    .filter(region -> region < regions)
                    .toList());
            for (int from = 0; from < there.size(); ) {
                int to = from;
                String target = next(server);
                while (to < there.size() && target.equals(room.peek())) {
                    room.remove();
                    to++;
                }
                cache.migrate(there.subList(from, to), server, target, how);
                from = to;
            }
        }
    }

    private String next(String server) {
        String target = room.peek();
        if (target == null) {
            throw new CacheException("the cache has more regions on memory server " + server
                    + " than its manager has found room for; another change is on its way: try again");
        }
        return target;
    }

    /** Says that it is done, or about to be. Where this fails it is not. */
    void become(int regions, List<RemoteRegion> more) {
        telling.become(cache, plan, bytes, regions, more);
    }

    /** It is done: the cache needs the servers no more that it leaves. */
    void end() {
        plan.left().forEach(server -> management.leaveUnused(cache, server));
        if (!plan.left().isEmpty()) {
            cache.stay();
        }
    }

    /** The cache stays what it was. Regions may have moved. */
    void undo() {
        if (!plan.left().isEmpty()) {
            cache.stay();
        }
        connected.forEach(server -> management.leaveUnused(cache, server));
        // It may have heard that the cache is another.
        management.changed();
    }
}
