package io.farheap.manager.service.moves;

import io.farheap.manager.Reclaim.Reason;
import io.farheap.manager.allocation.Allocator;
import io.farheap.manager.allocation.CachePlacement;
import io.farheap.manager.allocation.MoveSaving;
import io.farheap.manager.allocation.Need;
import io.farheap.manager.allocation.NoRoomException;
import io.farheap.manager.allocation.Offer.Kind;
import io.farheap.manager.allocation.Prices;
import io.farheap.manager.service.caches.Caches;
import io.farheap.manager.service.servers.Servers;
import io.farheap.manager.service.servers.SpotLives;
import io.farheap.manager.state.CacheRecord;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.LongPredicate;

/**
 * Plans optional moves (Redy, section 6.1): off spot servers that are not expected to live much longer, ahead of their
 * notice, and to servers that cost less. A move to a cheaper server is made if what it saves in the cache's remaining
 * time is worth more than the move; only a limited number of caches move at once. Guarded by the manager's lock.
 */
public final class CostRebalancer {

    /** How many caches may leave servers at once that are expected to end soon. */
    private static final int MOST_EARLY = 8;
    /** How many caches are examined in each tick for a move to cheaper servers. */
    private static final int LOOKED_AT = 20;

    private static final double GIB = 1 << 30;

    private final Caches caches;
    private final Servers servers;
    private final PlannedMoves moves;
    private final Allocator allocator;
    private final Prices prices;
    private final SpotLives lives;
    private final LongPredicate waits;
    private final int cheaper;
    /** The last cache that was examined. */
    private long cursor;

    /**
     * @param waits whether a cache waits for room to grow
     * @param cheaper how many caches may move at once to servers that cost less; if 0, only a cache without an end
     *     moves, off a spot server
     */
    public CostRebalancer(
            Caches caches,
            Servers servers,
            PlannedMoves moves,
            Allocator allocator,
            Prices prices,
            SpotLives lives,
            LongPredicate waits,
            int cheaper) {
        this.caches = caches;
        this.servers = servers;
        this.moves = moves;
        this.allocator = allocator;
        this.prices = prices;
        this.lives = lives;
        this.waits = waits;
        this.cheaper = cheaper;
    }

    /** Plans the moves that are due; called in each tick. */
    public void plan(long now, long millis) {
        Set<Long> ending = lives.ending();
        leaveEarly(ending, now, millis);
        int looked = 0;
        // A cache without an end must not stay on a spot server, so one moves even if none move to what is cheaper.
        int most = Math.max(1, cheaper);
        while (looked++ < LOOKED_AT && moves.underWay(Reason.CHEAPER) < most) {
            var next = caches.after(cursor).firstEntry();
            cursor = next == null ? 0 : next.getKey();
            if (next == null) {
                return;
            }
            save(next.getValue(), ending, now, millis);
        }
    }

    private void leaveEarly(Set<Long> ending, long now, long millis) {
        long room = MOST_EARLY - moves.underWay(Reason.ENDS_SOON);
        if (room <= 0) {
            return;
        }
        int tries = LOOKED_AT;
        // In an order that is the same in each process, as simulations have to be.
        for (long serverId : new TreeSet<>(ending)) {
            Servers.KnownServer server = servers.find(serverId);
            if (server == null || server.record.leaving() || servers.isSilent(server, now)) {
                continue;
            }
            for (long cacheId : List.copyOf(server.caches())) {
                CacheRecord cache = caches.find(cacheId);
                if (cache == null
                        || !isFree(cache)
                        || !cache.regions().containsKey(serverId)
                        || moves.stays(cacheId, now)) {
                    continue;
                }
                if (moves.plan(cache, server, Reason.ENDS_SOON, ending, now, millis) == null) {
                    moves.rests(cacheId, now);
                } else {
                    room--;
                }
                tries--;
                if (room == 0 || tries == 0) {
                    return;
                }
            }
        }
    }

    private boolean isFree(CacheRecord cache) {
        return !moves.isMoving(cache.id())
                && !waits.test(cache.id())
                && cache.wanted() == 0
                && cache.reserved().isEmpty();
    }

    /** Moves a cache off the server that costs most for what the cache has there, if that pays. */
    private void save(CacheRecord cache, Set<Long> ending, long now, long millis) {
        if (!isFree(cache)) {
            return;
        }
        Need need = Caches.need(cache, millis);
        double threads = cache.threadsOfRegion();
        Map<Long, Double> costs = new HashMap<>();
        for (Map.Entry<Long, Integer> share : cache.regions().entrySet()) {
            Servers.KnownServer server = servers.find(share.getKey());
            if (server == null || server.record.leaving() || servers.isSilent(server, now)) {
                return;
            }
            Kind kind = new Kind(server.record.type(), server.record.spot(), cache.regionBytes());
            boolean unsure = kind.spot() && need.hours() == Double.POSITIVE_INFINITY;
            costs.put(
                    share.getKey(),
                    unsure
                            ? Double.POSITIVE_INFINITY
                            : prices.hourly(kind, share.getValue(), need.hours(), threads) / share.getValue());
        }
        Map.Entry<Long, Double> dearest =
                costs.entrySet().stream().max(Map.Entry.comparingByValue()).orElse(null);
        if (dearest == null
                || dearest.getValue() == 0
                || cheaper == 0 && !dearest.getValue().isInfinite()) {
            return;
        }
        int regions = Objects.requireNonNull(cache.regions().get(dearest.getKey()));
        try {
            servers.stock(now);
            Set<Long> others = new HashSet<>(ending);
            others.add(dearest.getKey());
            others.addAll(moves.avoided(cache.id(), now));
            CachePlacement found = allocator.more(need.avoiding(others), cache.regionBytes(), regions, List.of());
            double before = dearest.getValue() * regions;
            double move = regions * cache.regionBytes() / GIB * prices.menu().movePrice();
            if (MoveSaving.pays(before, found.cost(), need.hours(), move)) {
                Servers.KnownServer server = servers.find(dearest.getKey());
                if (server != null) {
                    moves.plan(cache, server, Reason.CHEAPER, others, now, millis);
                }
            }
        } catch (NoRoomException e) {
            // No other servers have room, at whatever price.
        }
    }
}
