package io.farheap.manager.service;

import io.farheap.manager.ServerReport;
import io.farheap.manager.state.CacheRecord;
import io.farheap.manager.state.ServerRecord;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
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

    /** The one that was heard of last at an address, as one that starts anew has another id. */
    @Nullable
    Known at(String address) {
        return servers.values().stream()
                .filter(server -> server.record.address().equals(address))
                .max((one, other) -> one.report == null || other.report == null
                        ? Boolean.compare(one.report != null, other.report != null)
                        : Long.signum(one.reportedAt - other.reportedAt))
                .orElse(null);
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

    /** Whether any server that reports says that a cache has a lease there. */
    boolean holds(long cacheId, long now) {
        for (Known server : servers.values()) {
            if (!isSilent(server, now)
                    && Objects.requireNonNull(server.report).held().containsKey(cacheId)) {
                return true;
            }
        }
        return false;
    }
}
