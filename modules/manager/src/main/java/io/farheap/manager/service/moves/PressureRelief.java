package io.farheap.manager.service.moves;

import io.farheap.manager.ServerReport;
import io.farheap.manager.service.caches.Caches;
import io.farheap.manager.service.caches.Clients;
import io.farheap.manager.service.servers.Servers;
import io.farheap.manager.state.CacheRecord;
import io.farheap.memory.Plurals;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.function.LongPredicate;
import java.util.stream.Collectors;

/**
 * Plans that regions leave servers whose machines want memory back: of each as many as it wants beyond those that are
 * free, and that are on their way already. The clients choose which. If there is no room elsewhere, the regions stay,
 * nothing is lost, and log, clients and operators are notified. Guarded by the manager's lock.
 */
public final class PressureRelief {

    private static final System.Logger LOG = System.getLogger(PressureRelief.class.getName());
    /** How many searches for room one tick makes at most. */
    private static final int MOST_SEARCHES = 64;
    /** As long as no room becomes free, a cache that found too little is tried again after this time. */
    private static final long PAUSE_NANOS = 10_000_000_000L;

    /**
     * A search that found too little room.
     *
     * @param growths {@link Servers#growths} then
     */
    private record Refusal(long growths, long at) {}

    /** Of how many regions a client was notified, and over which line. */
    private record Notice(Clients.ClientLine line, int regions) {}

    /** The regions that a server wants back and that find no room elsewhere. */
    private static final class Shortage {
        private int regions;
        /** By cache: how many regions it has there that find no room. */
        private Map<Long, Integer> caches = Map.of();

        private final Map<Long, Notice> told = new HashMap<>();
        /** Of how many the log has said so last. */
        private int said;
    }

    private final Caches caches;
    private final Servers servers;
    private final Clients clients;
    private final PlannedMoves moves;
    private final LongPredicate waits;
    /** By cache. */
    private final Map<Long, Refusal> refusals = new HashMap<>();
    /** By server. */
    private final Map<Long, Shortage> shortages = new TreeMap<>();

    /** @param waits whether a cache waits for room to grow */
    public PressureRelief(Caches caches, Servers servers, Clients clients, PlannedMoves moves, LongPredicate waits) {
        this.caches = caches;
        this.servers = servers;
        this.clients = clients;
        this.moves = moves;
        this.waits = waits;
    }

    /** Plans the moves that are due; called in each tick. */
    public void plan(long now, long millis) {
        List<Servers.KnownServer> pressed = servers.pressed();
        shortages
                .keySet()
                .retainAll(pressed.stream().map(server -> server.record.id()).collect(Collectors.toSet()));
        refusals.values().removeIf(refusal -> now - refusal.at() >= PAUSE_NANOS);
        if (!moves.haveAllLooked()) {
            // Regions on servers that leave would be lost, so they come first.
            return;
        }
        int left = MOST_SEARCHES;
        for (Servers.KnownServer server : pressed) {
            if (!server.record.leaving() && !servers.isSilent(server, now)) {
                left = relieve(server, left, now, millis);
            }
        }
    }

    /**
     * @param most how many searches it may make
     * @return how many more there may be
     */
    private int relieve(Servers.KnownServer server, int most, long now, long millis) {
        int missing = missing(server, now);
        int left = most;
        Map<Long, Integer> refused = new TreeMap<>();
        for (CacheRecord cache : missing == 0 ? List.<CacheRecord>of() : on(server)) {
            long id = cache.id();
            int stay = regions(cache, server) - moves.leaving(id, server, false, now);
            if (missing == 0) {
                break;
            }
            if (wasRefused(id)) {
                refused.put(id, stay);
            } else if (left > 0 && mayMove(cache, server, now)) {
                left--;
                int wanted = Math.min(Math.min(missing, stay), moves.batch(cache, server));
                int planned = moves.planSome(cache, server, wanted, now, millis);
                missing -= planned;
                if (planned < wanted) {
                    refusals.put(id, new Refusal(servers.growths(), now));
                    refused.put(id, stay - planned);
                }
            }
        }
        refused.values().removeIf(regions -> regions <= 0);
        int stay = refused.values().stream().mapToInt(Integer::intValue).sum();
        lacks(server, Math.min(missing, stay), refused);
        return left;
    }

    /** Returns how many regions have to leave a server beside those that do already. */
    private int missing(Servers.KnownServer server, long now) {
        ServerReport report = Objects.requireNonNull(server.report);
        // Of a move for another reason counts what is likely to come soon.
        int untaken = servers.untaken(
                server,
                cache -> Math.max(
                        moves.givenBack(cache, server, now), moves.leaving(cache, server, true, now)));
        int free = Math.max(0, report.freeRegions() - untaken);
        int returning = servers.returning(server, cache -> moves.leaving(cache, server, true, now));
        return (int) Math.max(0, (long) report.wantedRegions() - free - returning);
    }

    /**
     * Returns how many of a server's regions caches were promised and have not taken. Regions that leave it since it
     * wants memory back were taken. Those that are to leave it for another reason may be taken before: they count.
     */
    public int promised(Servers.KnownServer server, long now) {
        return servers.untaken(server, cache -> moves.givenBack(cache, server, now));
    }

    /** Returns the caches with regions on a server, those with most before the others. */
    private List<CacheRecord> on(Servers.KnownServer server) {
        return server.caches().stream()
                .map(caches::find)
                .filter(Objects::nonNull)
                .filter(cache -> cache.regions().containsKey(server.record.id()))
                .sorted(Comparator.comparingInt((CacheRecord cache) -> -regions(cache, server))
                        .thenComparingLong(CacheRecord::id))
                .toList();
    }

    private static int regions(CacheRecord cache, Servers.KnownServer server) {
        return Objects.requireNonNull(cache.regions().get(server.record.id()));
    }

    private boolean wasRefused(long cacheId) {
        Refusal last = refusals.get(cacheId);
        return last != null && last.growths() == servers.growths();
    }

    /**
     * Whether a cache makes no change, its client hears of one, and it has taken all its regions on a server: a client
     * that has not asks for all of them at once, and cannot know that some are to leave.
     */
    private boolean mayMove(CacheRecord cache, Servers.KnownServer server, long now) {
        ServerReport report = Objects.requireNonNull(server.report);
        return report.held().getOrDefault(cache.id(), 0) >= regions(cache, server)
                && !moves.isMoving(cache.id())
                && !moves.stays(cache.id(), now)
                && !waits.test(cache.id())
                && cache.wanted() == 0
                && cache.reserved().isEmpty()
                && clients.line(cache.id()) != null;
    }

    private void lacks(Servers.KnownServer server, int regions, Map<Long, Integer> refused) {
        Shortage shortage = shortages.computeIfAbsent(server.record.id(), _ -> new Shortage());
        shortage.regions = regions;
        shortage.caches = regions == 0 ? Map.of() : refused;
        if (regions > 0 && (shortage.said == 0 || regions / 2 >= shortage.said)) {
            shortage.said = regions;
            LOG.log(
                    System.Logger.Level.WARNING,
                    "memory server " + server.record.address() + " wants memory back for its machine, and "
                            + Plurals.of(regions, "region")
                            + (regions == 1 ? " finds" : " find")
                            + " no room on other servers: nothing is lost, and what stays there is tried again; start a "
                            + "server");
        }
    }

    /** Returns how many regions a server wants back that find no room elsewhere. */
    public int unplaced(long serverId) {
        Shortage shortage = shortages.get(serverId);
        return shortage == null ? 0 : shortage.regions;
    }

    /** Notifies clients of regions that find no room, once over each line, and again if twice as many find none. */
    public void alert() {
        shortages.forEach((serverId, shortage) -> shortage.caches.forEach((cacheId, regions) -> {
            Clients.ClientLine line = clients.line(cacheId);
            int count = Math.min(regions, shortage.regions);
            Notice before = shortage.told.get(cacheId);
            if (line != null && (before == null || !before.line().equals(line) || count / 2 >= before.regions())) {
                shortage.told.put(cacheId, new Notice(line, count));
                String address = servers.address(serverId);
                line.tell(listener -> listener.wanted(cacheId, address, count));
            }
        }));
    }
}
