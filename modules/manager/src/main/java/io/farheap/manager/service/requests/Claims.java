package io.farheap.manager.service.requests;

import io.farheap.control.ControlException;
import io.farheap.control.ControlException.Code;
import io.farheap.manager.AllocationCandidate;
import io.farheap.manager.CacheRequest;
import io.farheap.manager.RegionShare;
import io.farheap.manager.service.caches.Caches;
import io.farheap.manager.service.caches.Clients;
import io.farheap.manager.service.servers.ServerMembership;
import io.farheap.manager.service.servers.Servers;
import io.farheap.manager.state.AllocationTerms;
import io.farheap.manager.state.CacheRecord;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Compares what clients claim and what servers report with the records. A cache that a server holds, that its client
 * claims and that has no record is taken up again; if a server alone holds it, its lease decides. A client of a cache
 * that none of its servers reports is notified, so that it asks them; one of a cache that is elsewhere than its record
 * says reports where it is. Guarded by the manager's lock.
 */
public final class Claims {

    private static final System.Logger LOG = System.getLogger(Claims.class.getName());
    /** A client that was given room takes it within this time, and the servers' reports say so. */
    private static final long TAKEN_NANOS = 15_000_000_000L;
    /** A claim that was refused for longer than this has ended, or begins again. */
    private static final long FORGET_NANOS = 20 * TAKEN_NANOS;

    /**
     * None of a cache's servers reports it.
     *
     * @param since when a claim found that first
     * @param line over which its client was notified; null if it was not
     */
    private record UnheldCache(long since, long generation, Clients.@Nullable ClientLine line) {}

    private final Caches caches;
    private final Servers servers;
    private final ServerMembership membership;
    private final Admission admission;
    /** By cache. */
    private final Map<Long, UnheldCache> unheld = new HashMap<>();
    /** By cache without a record that a server reports: since when its claims wait for the reports of its others. */
    private final Map<Long, Long> claimed = new HashMap<>();

    public Claims(Caches caches, Servers servers, ServerMembership membership, Admission admission) {
        this.membership = membership;
        this.caches = caches;
        this.servers = servers;
        this.admission = admission;
    }

    /** A client has named all of its caches; called about every ten seconds. */
    public void compare(Clients.ClientLine line, Set<Long> cacheIds, long now) {
        for (long id : cacheIds) {
            CacheRecord cache = caches.find(id);
            if (cache == null) {
                unheld.remove(id);
                if (!caches.hasEnded(id)) {
                    line.tell(listener -> listener.unknown(id));
                }
            } else if (servers.hasUnexpected(id, now)) {
                // The state is older than the cache's last move, or the report of that does not come.
                unheld.remove(id);
                line.tell(listener -> listener.unknown(id));
            } else if (isUnheld(cache, now)) {
                adviseOf(cache, line, now);
            } else {
                unheld.remove(id);
            }
        }
    }

    /** Whether all servers of a cache were heard, and none of them reports any of its regions. */
    private boolean isUnheld(CacheRecord cache, long now) {
        return caches.isWritten(cache.id())
                && cache.reserved().isEmpty()
                && cache.regions().keySet().stream().allMatch(id -> {
                    Servers.KnownServer server = servers.find(id);
                    return server != null
                            && server.report != null
                            && !servers.isSilent(server, now)
                            && !server.report.held().containsKey(cache.id());
                });
    }

    private void adviseOf(CacheRecord cache, Clients.ClientLine line, long now) {
        UnheldCache before = unheld.get(cache.id());
        if (before == null || before.generation() != cache.generation()) {
            unheld.put(cache.id(), new UnheldCache(now, cache.generation(), null));
        } else if (now - before.since() >= TAKEN_NANOS && !line.equals(before.line())) {
            unheld.put(cache.id(), new UnheldCache(before.since(), before.generation(), line));
            cache.regions().keySet().forEach(server -> {
                String address = servers.address(server);
                line.tell(listener -> listener.lost(cache.id(), address));
            });
        }
    }

    /** Forgets what it knows of caches that are gone, or are not claimed any more, now and then. */
    public void forgetGone(long now) {
        unheld.keySet().removeIf(id -> caches.find(id) == null);
        claimed.values().removeIf(since -> now - since > FORGET_NANOS);
    }

    /**
     * As {@code CacheManager.claim}, of a cache that is not known.
     *
     * @return its record, which is in none of the manager's tables yet
     */
    public CacheRecord takeUp(
            CacheRequest terms, long generation, long regionBytes, List<RegionShare> shares, long now) {
        caches.requireNotEnded(terms.cacheId());
        requireSensible(terms, generation, regionBytes, shares);
        SortedMap<Long, Integer> regions = new TreeMap<>();
        SortedMap<String, Integer> missing = new TreeMap<>();
        boolean held = false;
        boolean awaited = false;
        for (Map.Entry<String, Integer> share : byAddress(shares).entrySet()) {
            Servers.KnownServer server = at(share.getKey(), now);
            int has = server == null || server.report == null
                    ? 0
                    : server.report.held().getOrDefault(terms.cacheId(), 0);
            held |= has > 0;
            awaited |= server == null ? servers.awaitsAny(now) : servers.isAwaited(server, now);
            // A server that is cut off has what its client says.
            int there = server != null && servers.isSilent(server, now) ? share.getValue() : has;
            if (server != null && there > 0) {
                requireSize(terms, regionBytes, server);
                regions.merge(server.record.id(), Math.min(there, share.getValue()), Integer::sum);
            }
            if (there < share.getValue()) {
                missing.put(share.getKey(), share.getValue() - there);
            }
        }
        if (!held && !awaited) {
            throw new ControlException(
                    Code.NOT_FOUND,
                    "there is no cache " + Caches.hex(terms.cacheId()) + ", and no memory server reports that it has "
                            + "regions of it");
        }
        if (!held || !missing.isEmpty() || awaited) {
            requireWaited(terms.cacheId(), held, missing, now);
        }
        // Their server is gone, or another process is at its address: they are lost, and counted where they were.
        missing.forEach((address, lost) ->
                regions.merge(membership.absent(address, regionBytes, lost, now), lost, Integer::sum));
        claimed.remove(terms.cacheId());
        LOG.log(
                System.Logger.Level.WARNING,
                "cache " + Caches.hex(terms.cacheId()) + " of " + terms.name()
                        + " is taken up again: its client claims it, and its servers hold it");
        AllocationCandidate candidate = terms.candidates().getFirst();
        return new CacheRecord(
                terms.cacheId(),
                terms.name(),
                terms.capacity(),
                0,
                regionBytes,
                new AllocationTerms(
                        terms.place(),
                        candidate.switches(),
                        candidate.serverThreads(),
                        Caches.regions(terms.capacity(), regionBytes),
                        admission.expiry(terms.lifetimeMillis()),
                        terms.tenant()),
                Math.addExact(generation, 1),
                regions,
                Collections.emptySortedMap());
    }

    private static SortedMap<String, Integer> byAddress(List<RegionShare> shares) {
        SortedMap<String, Integer> regions = new TreeMap<>();
        shares.forEach(share -> regions.merge(share.address(), share.regions(), Math::addExact));
        return regions;
    }

    private static void requireSize(CacheRequest terms, long regionBytes, Servers.KnownServer server) {
        if (server.record.regionBytes() != regionBytes) {
            throw new ControlException(
                    Code.INVALID_ARGUMENT,
                    "cache " + Caches.hex(terms.cacheId()) + " claims regions of " + regionBytes
                            + " bytes on memory server " + server.record.address() + ", which has regions of "
                            + server.record.regionBytes());
        }
    }

    /**
     * Refuses a claim that the servers' reports do not confirm in full, for as long as these may be late.
     *
     * @param held whether any server reports that it has regions of the cache
     * @param missing by address: how many of the claimed regions no server reports
     */
    private void requireWaited(long cacheId, boolean held, Map<String, Integer> missing, long now) {
        // The other servers may be as late as the first one, so the time begins with that one's report.
        if (!held || now - claimed.computeIfAbsent(cacheId, _ -> now) < TAKEN_NANOS) {
            throw new ControlException(
                    Code.BUSY,
                    "cache " + Caches.hex(cacheId) + " claims regions that its memory servers have not reported yet, "
                            + "so many by address: " + missing + "; ask again in a moment");
        }
    }

    /** Returns the server that reports from an address or, if none does, one that did; null if there is none. */
    private Servers.@Nullable KnownServer at(String address, long now) {
        Servers.KnownServer last = null;
        for (Servers.KnownServer one : servers.all().toList()) {
            if (one.record.address().equals(address) && (last == null || !servers.isSilent(one, now))) {
                last = one;
            }
        }
        return last;
    }

    private static void requireSensible(
            CacheRequest terms, long generation, long regionBytes, List<RegionShare> shares) {
        if (regionBytes < 1 || generation < 0 || generation == Long.MAX_VALUE) {
            throw new ControlException(
                    Code.INVALID_ARGUMENT,
                    "a claim of regions of " + regionBytes + " bytes at generation " + generation
                            + "; the first is at least 1, the second at least 0");
        }
        long claimed = shares.stream().mapToLong(RegionShare::regions).sum();
        if (claimed != Caches.regions(terms.capacity(), regionBytes)) {
            throw new ControlException(
                    Code.INVALID_ARGUMENT,
                    "a claim of " + claimed + " regions for a cache of " + terms.capacity() + " bytes; it has "
                            + Caches.regions(terms.capacity(), regionBytes));
        }
    }
}
