package io.farheap.manager.service;

import io.farheap.manager.ServerReport;
import io.farheap.manager.state.CacheRecord;
import io.farheap.manager.state.ServerRecord;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The servers that a manager knows: what they last reported, and what of them is caches'. Its user has a lock around
 * it.
 */
final class Servers {

    /** One of them. */
    static final class Known {
        ServerRecord record;
        /** Null until it reports to this manager. */
        @Nullable
        ServerReport report;

        long reportedAt;
        /** What each cache has there, or has reserved. */
        final Map<Long, Integer> promised = new HashMap<>();

        Known(ServerRecord record) {
            this.record = record;
        }

        /**
         * What it could give to others. Of what is promised and not taken yet it does not know; of what caches without
         * a manager take, this does not know.
         */
        int free() {
            if (report == null) {
                return 0;
            }
            long untaken = 0;
            long all = 0;
            for (Map.Entry<Long, Integer> cache : promised.entrySet()) {
                all += cache.getValue();
                untaken += Math.max(0, cache.getValue() - report.held().getOrDefault(cache.getKey(), 0));
            }
            return (int) Math.max(0, Math.min(report.totalRegions() - all, report.freeRegions() - untaken));
        }
    }

    private final Map<Long, Known> servers = new HashMap<>();
    private final long silentNanos;

    Servers(long silentNanos) {
        this.silentNanos = silentNanos;
    }

    Stream<Known> all() {
        return servers.values().stream();
    }

    @Nullable
    Known find(long id) {
        return servers.get(id);
    }

    /** A cache's server at an address: one that it was told of, or one that says that the cache has a lease there. */
    @Nullable
    Known of(CacheRecord cache, String address) {
        Known holder = null;
        for (Known one : servers.values()) {
            if (!one.record.address().equals(address)) {
                continue;
            }
            if (cache.regions().containsKey(one.record.id()) || cache.reserved().containsKey(one.record.id())) {
                return one;
            }
            if (one.report != null && one.report.held().containsKey(cache.id())) {
                holder = one;
            }
        }
        return holder;
    }

    /** A server is new at its address: others that were there are there no more. */
    void replaces(ServerRecord server) {
        for (Known one : servers.values()) {
            if (one.record.id() != server.id() && one.record.address().equals(server.address())) {
                one.report = null;
            }
        }
    }

    void put(ServerRecord record) {
        Known known = servers.computeIfAbsent(record.id(), _ -> new Known(record));
        known.record = record;
    }

    void remove(long id) {
        servers.remove(id);
    }

    /** A cache has changed. */
    void promise(@Nullable CacheRecord before, @Nullable CacheRecord after) {
        if (before != null) {
            Stream.concat(before.regions().keySet().stream(), before.reserved().keySet().stream())
                    .map(servers::get)
                    .filter(server -> server != null)
                    .forEach(server -> server.promised.remove(before.id()));
        }
        if (after != null) {
            Stream.concat(after.regions().entrySet().stream(), after.reserved().entrySet().stream())
                    .forEach(share -> {
                        Known server = servers.get(share.getKey());
                        if (server != null) {
                            server.promised.merge(after.id(), share.getValue(), Integer::sum);
                        }
                    });
        }
    }

    boolean isSilent(Known server, long now) {
        return server.report == null || now - server.reportedAt > silentNanos;
    }

    /** Of those that report and stay. */
    List<Allocator.Offer> offers(long now) {
        return servers.values().stream()
                .filter(server -> !isSilent(server, now) && !server.record.leaving())
                .map(server -> new Allocator.Offer(server.record.id(), server.record.regionBytes(), server.free()))
                .filter(offer -> offer.free() > 0)
                .toList();
    }

    /**
     * Whether no server can hold anything for a cache: each of its servers says so, or is gone for longer than any
     * lease. While no server at all is heard, it may be this process that is cut off.
     */
    boolean knownFree(CacheRecord cache, long now, long goneNanos) {
        boolean heard = false;
        for (Known server : servers.values()) {
            boolean silent = isSilent(server, now);
            heard |= !silent;
            if (!silent && server.report != null && server.report.held().containsKey(cache.id())) {
                return false;
            }
            boolean its = cache.regions().containsKey(server.record.id())
                    || cache.reserved().containsKey(server.record.id());
            if (its && silent && server.report != null && now - server.reportedAt <= goneNanos) {
                return false;
            }
        }
        return heard;
    }
}
