package io.farheap.manager.service.moves;

import io.farheap.manager.ServerReport;
import io.farheap.manager.service.caches.Caches;
import io.farheap.manager.service.caches.Clients;
import io.farheap.manager.service.servers.Servers;
import io.farheap.manager.state.CacheRecord;
import io.farheap.memory.Plurals;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
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
    /** How many searches for room one tick makes at most; the next one begins with other servers and caches. */
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
        /** By cache: how many of them are its own; of caches with most there before the others. */
        private Map<Long, Integer> caches = Map.of();

        private final Map<Long, Notice> notices = new HashMap<>();
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
    /** The server at which the searches of a tick have ended last: the next tick begins after it. */
    private long endedAt = Long.MAX_VALUE;

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
        // Regions on servers that leave would be lost, so they come first.
        boolean mayPlan = moves.haveAllLooked();
        int left = MOST_SEARCHES;
        for (Servers.KnownServer server : inTurn(pressed)) {
            if (server.record.leaving() || servers.isSilent(server, now)) {
                lacks(server, 0, Map.of());
            } else if (!mayPlan) {
                lacksAtMost(server, missing(server, now));
            } else {
                boolean any = left > 0;
                left = relieve(server, left, now, millis);
                endedAt = any && left == 0 ? server.record.id() : endedAt;
            }
        }
    }

    /** @param pressed servers by number */
    private List<Servers.KnownServer> inTurn(List<Servers.KnownServer> pressed) {
        List<Servers.KnownServer> all = new ArrayList<>();
        pressed.stream().filter(server -> server.record.id() > endedAt).forEach(all::add);
        pressed.stream().filter(server -> server.record.id() <= endedAt).forEach(all::add);
        return all;
    }

    /**
     * @param most how many searches it may make
     * @return how many more there may be
     */
    private int relieve(Servers.KnownServer server, int most, long now, long millis) {
        int missing = missing(server, now);
        int left = most;
        boolean allKnown = true;
        Map<Long, Integer> refused = new TreeMap<>();
        for (CacheRecord cache : missing == 0 ? List.<CacheRecord>of() : on(server)) {
            long id = cache.id();
            int stay = regions(cache, server) - moves.leaving(id, server, false, now);
            if (missing == 0) {
                break;
            }
            if (wasRefused(id) || left == 0 && refusals.containsKey(id)) {
                refused.put(id, stay);
            } else if (mayMove(cache, server, now)) {
                if (left == 0) {
                    allKnown = false;
                    continue;
                }
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
        if (allKnown) {
            int stay = refused.values().stream()
                    .mapToInt(regions -> Math.max(0, regions))
                    .sum();
            lacks(server, Math.min(missing, stay), refused);
        } else {
            lacksAtMost(server, missing);
        }
        return left;
    }

    /** Returns how many regions have to leave a server beside those that do already. */
    private int missing(Servers.KnownServer server, long now) {
        ServerReport report = Objects.requireNonNull(server.report);
        int free = Math.max(0, report.freeRegions() - servers.untaken(server, cache -> leaving(cache, server, now)));
        int returning = servers.returning(server, cache -> moves.leaving(cache, server, true, now));
        return (int) Math.max(0, (long) report.wantedRegions() - free - returning);
    }

    /** Returns how many regions of a cache come back to no cache; of a move for another reason, if that is soon. */
    private int leaving(long cacheId, Servers.KnownServer server, long now) {
        return Math.max(moves.givenBack(cacheId, server, now), moves.leaving(cacheId, server, true, now));
    }

    /**
     * Returns how many of a server's regions caches were promised and have not taken. Regions that leave it since it
     * wants memory back were taken. Those that are to leave it for another reason may be taken before: they count.
     */
    public int promised(Servers.KnownServer server, long now) {
        return servers.untaken(server, cache -> moves.givenBack(cache, server, now));
    }

    /**
     * Returns the caches with regions on a server, those with most before the others. Caches that found too little room
     * a moment ago come last, those first that have waited longest: there may be more of them than searches.
     */
    private List<CacheRecord> on(Servers.KnownServer server) {
        return server.caches().stream()
                .map(caches::find)
                .filter(Objects::nonNull)
                .filter(cache -> cache.regions().containsKey(server.record.id()))
                .sorted(Comparator.comparing((CacheRecord cache) -> refusals.containsKey(cache.id()))
                        .thenComparing(this::inOrderOfRefusal)
                        .thenComparingInt(cache -> -regions(cache, server))
                        .thenComparingLong(CacheRecord::id))
                .toList();
    }

    /** Compared by difference, as times of nanoTime are. */
    private int inOrderOfRefusal(CacheRecord one, CacheRecord other) {
        Refusal first = refusals.get(one.id());
        Refusal second = refusals.get(other.id());
        return first == null || second == null ? 0 : Long.signum(first.at() - second.at());
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

    /** What is known stays known, but no more regions find no room than have to leave. */
    private void lacksAtMost(Servers.KnownServer server, int most) {
        Shortage known = shortages.get(server.record.id());
        if (known != null && known.regions > most) {
            lacks(server, most, known.caches);
        }
    }

    /**
     * @param regions how many find no room
     * @param refused by cache: of how many of its own; together no fewer
     */
    private void lacks(Servers.KnownServer server, int regions, Map<Long, Integer> refused) {
        Shortage shortage = shortages.computeIfAbsent(server.record.id(), _ -> new Shortage());
        shortage.regions = regions;
        shortage.caches = divide(regions, refused);
        if (regions > 0 && (shortage.said == 0 || regions / 2 >= shortage.said)) {
            shortage.said = regions;
            LOG.log(
                    System.Logger.Level.WARNING,
                    "memory server " + server.record.address() + " wants memory back for its machine, and "
                            + Plurals.of(regions, "region")
                            + (regions == 1 ? " finds" : " find")
                            + " no room on other servers: nothing is lost, and what stays there is tried again; "
                            + "start a server");
        }
    }

    /** Divides regions among the caches that have them, of which those with most come before the others. */
    private static Map<Long, Integer> divide(int regions, Map<Long, Integer> refused) {
        Map<Long, Integer> parts = new LinkedHashMap<>();
        int left = regions;
        List<Long> order = new ArrayList<>(refused.keySet());
        order.sort(Comparator.comparingInt((Long id) -> -refused.getOrDefault(id, 0))
                .thenComparing(Comparator.naturalOrder()));
        for (long id : order) {
            int part = Math.min(left, refused.getOrDefault(id, 0));
            if (part > 0) {
                parts.put(id, part);
                left -= part;
            }
        }
        return parts;
    }

    /** Returns how many regions a server wants back that find no room elsewhere. */
    public int unplaced(long serverId) {
        Shortage shortage = shortages.get(serverId);
        return shortage == null ? 0 : shortage.regions;
    }

    /** Notifies clients of regions that find no room, once over each line, and again if twice as many find none. */
    public void alert() {
        shortages.forEach((serverId, shortage) -> shortage.caches.forEach((cacheId, count) -> {
            Clients.ClientLine line = clients.line(cacheId);
            Notice before = shortage.notices.get(cacheId);
            if (line != null && (before == null || !before.line().equals(line) || count / 2 >= before.regions())) {
                shortage.notices.put(cacheId, new Notice(line, count));
                String address = servers.address(serverId);
                line.tell(listener -> listener.wanted(cacheId, address, count));
            }
        }));
    }
}
