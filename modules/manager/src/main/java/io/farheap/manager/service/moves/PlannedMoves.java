package io.farheap.manager.service.moves;

import io.farheap.manager.CacheDescription.LateMove;
import io.farheap.manager.CacheManager;
import io.farheap.manager.Reclaim;
import io.farheap.manager.Reclaim.Reason;
import io.farheap.manager.ReclaimOutcome;
import io.farheap.manager.ServerReport;
import io.farheap.manager.allocation.Allocator;
import io.farheap.manager.allocation.CachePlacement;
import io.farheap.manager.allocation.Need;
import io.farheap.manager.allocation.NoRoomException;
import io.farheap.manager.service.caches.Caches;
import io.farheap.manager.service.caches.Clients;
import io.farheap.manager.service.caches.ExpiredCacheReclaimer;
import io.farheap.manager.service.servers.FreeRoom;
import io.farheap.manager.service.servers.MigrationRates;
import io.farheap.manager.service.servers.Servers;
import io.farheap.manager.service.servers.SpotLives;
import io.farheap.manager.state.CacheRecord;
import io.farheap.memory.Plurals;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Which caches should leave which servers, and which of these moves their clients were notified of. A cache leaves one
 * server at a time: the manager reserves room for its regions there and notifies its client; the client moves them, and
 * reports where the regions are. Guarded by the manager's lock.
 */
public final class PlannedMoves {

    private static final System.Logger LOG = System.getLogger(PlannedMoves.class.getName());
    private static final long NANOS_PER_MILLI = 1_000_000;
    /** The longest time that another process may name; a longer time counts as this one. */
    private static final long MOST_LEFT_MILLIS = 1_000_000_000_000L;
    /**
     * Two ends that are closer than this count as equal: a server that has not received its end yet reports a later
     * one, so that their order could seem to change.
     */
    private static final long SAME_NANOS = 2_000_000_000L;

    private static final long NANOS_PER_SECOND = 1_000_000_000;
    /** What passes before regions move: the report of a client that gives way, the next plan and its alert. */
    private static final long REACTION_NANOS = (long) (MigrationRates.REACTION_SECONDS * NANOS_PER_SECOND);
    /** How long a client may take for an optional move. */
    private static final long OPTIONAL_NANOS = 600_000_000_000L;
    /** How long it may take for a move ahead of the notice: the server is expected to end within this time. */
    private static final long EARLY_NANOS = 120_000_000_000L;
    /** How long regions may take to leave a server that wants memory back, by the rate that was measured. */
    private static final long BATCH_NANOS = 5_000_000_000L;
    /** After so much more time without an answer others leave it in their place. */
    private static final long PATIENCE_NANOS = 10_000_000_000L;
    /** How long a cache that found no room for a move ahead of the notice is not tried again. */
    private static final long REST_NANOS = 10_000_000_000L;
    /** A client's own move ends after this time in which no region has come. */
    private static final long STILL_NANOS = 60_000_000_000L;
    /** How many searches for caches that may find no room one tick makes at most, and all calls until the next one. */
    private static final int MOST_SEARCHES = 256;
    /** How many of these one call makes in one round. */
    private static final int MOST_OF_A_CALL = 16;
    /** How many looks at expired caches one tick makes until it ends no more of them; calls make none. */
    private static final int MOST_LOOKS = 4_096;
    /** For so many rounds of searches, or for so long, calls for room wait for caches that are stuck. */
    private static final int MOST_ROUNDS = 2;

    private static final long MOST_WAIT_NANOS = 2_000_000_000L;
    /** Then they do not for one round, or for so long, in which each client asks again. */
    private static final long OPEN_NANOS = 500_000_000L;
    /** As long as no room becomes free, a cache that found none is tried again after this time. */
    private static final long PAUSE_MILLIS = 500;
    /** The longest time that moves are counted to take: a year. */
    private static final long MOST_BUSY_NANOS = 365 * 86_400 * NANOS_PER_SECOND;
    /** The id of no server. */
    private static final long NO_SERVER = 0;
    /** How long a cache is not sent again to a server on which it did not get its reserved regions. */
    private static final long AVOID_NANOS = 3_000_000_000L;

    /**
     * A move that is under way.
     *
     * @param told whether its client was notified, and may have begun
     * @param regions how many are to leave the server at most
     */
    private record Move(long serverId, Reason reason, long since, boolean told, int regions) {

        static final int ALL = Integer.MAX_VALUE;

        Move(long serverId, Reason reason, long since, boolean told) {
            this(serverId, reason, since, told, ALL);
        }

        /** The same move, of which its client was notified. */
        Move notified() {
            return new Move(serverId, reason, since, true, regions);
        }

        /**
         * The rest of this move, of which its client has to be notified.
         *
         * @param room for how many regions there is room
         */
        Move rest(int room) {
            return new Move(serverId, reason, since, false, reason == Reason.PRESSURE ? room : regions);
        }
    }

    /**
     * Room that is reserved for a cache's growth, or for a move that its client makes.
     *
     * @param since when it was reserved, or renewed last
     * @param there how many regions the cache had on all servers of its room by their reports
     * @param changed when that number was another one
     */
    private record Growth(long since, int there, long changed) {}

    /** @param lost how many regions cannot leave the server */
    private record LateNotice(Clients.ClientLine line, int lost) {}

    /**
     * A search for room.
     *
     * @param millis the time of day
     * @param growths {@link Servers#growths} then
     * @param round {@link #round} then
     */
    private record RoomAttempt(long nanos, long millis, long growths, long round) {
        /** For a cache that has found room meanwhile, and waits until it may move there. */
        private static final RoomAttempt NONE = new RoomAttempt(0, 0, -1, -1);
    }

    /**
     * What a cache needs that may get the room of expired ones.
     *
     * @param serverId the server that it leaves
     * @param others other servers to which it does not move
     * @param ahead whether it leaves another server first, so that these are all regions that wait
     */
    private record EndingSearch(int regions, long serverId, Set<Long> others, boolean ahead) {}

    /**
     * A time in which calls for room wait for stuck caches, or do not.
     *
     * @param round {@link #round} when it began
     */
    private record AdmissionPhase(boolean open, long round, long since) {}

    private final Caches caches;
    private final Servers servers;
    private final Clients clients;
    private final Allocator allocator;
    /** Allocates from room that is held back, too. */
    private final Allocator reserve;

    private final SpotLives lives;
    private final MigrationRates rates;
    private final ExpiredCacheReclaimer endings;
    private final MachineOrders orders;
    private final long goneNanos;
    /** By cache. A manager that starts plans all moves again. */
    private final Map<Long, Move> moves = new TreeMap<>();
    /**
     * By cache: the room that is reserved for its growth or for an optional move. A new manager counts from its own
     * start.
     */
    private final Map<Long, Growth> growing = new HashMap<>();
    /**
     * By cache: since when this manager waits to plan again a move off a leaving server that an earlier manager had
     * planned.
     */
    private final Map<Long, Long> earlier = new HashMap<>();
    /**
     * By cache: the servers that leave while the cache grows or makes a move of its own, or a longer move off another
     * server for which these cannot wait. Its client is notified at once, and has to give way unless it moves off that
     * server itself; then the moves off these servers are planned.
     */
    private final Map<Long, Set<Long>> announced = new TreeMap<>();
    /** By cache, and by address of a server that leaves: which late move its client was notified of last. */
    private final Map<Long, Map<String, LateNotice>> lateTold = new HashMap<>();
    /** By cache: the server of which the log has said last that there is too little time for it. */
    private final Map<Long, Long> lateSaid = new HashMap<>();
    /** By cache: servers on which it did not get its reserved regions, and until when it is not sent there. */
    private final Map<Long, Map<Long, Long>> avoided = new HashMap<>();
    /** By cache: until when it is not moved again ahead of the notice, since its client has not moved it. */
    private final Map<Long, Long> stays = new HashMap<>();
    /**
     * The caches for whose regions on a server that leaves there is no room, each with the last search; the log has
     * said so.
     */
    private final Map<Long, RoomAttempt> stuck = new TreeMap<>();
    /** By cache that leaves a server: the last search that found room for its regions on others that leave. */
    private final Map<Long, RoomAttempt> ahead = new HashMap<>();
    /** By cache: the last search that found only room on servers where it did not get its regions a moment ago. */
    private final Map<Long, RoomAttempt> denied = new HashMap<>();
    /** By stuck cache: a look at expired caches that waits for a later tick; those that wait longest come first. */
    private final SequencedMap<Long, EndingSearch> postponed = new LinkedHashMap<>();
    /** {@link ExpiredCacheReclaimer#looks} up to which expired caches are looked at now. */
    private long looksUntil;
    /** {@link Servers#growths} when the last round began in which room was looked for, for all of them. */
    private long searchedAt;
    /** Counts these rounds; a round may take several ticks. */
    private long round;
    /** {@link Servers#growths} when the round began that is under way; null if none is. */
    private @Nullable Long roundBegan;
    /** Whether calls for room wait for stuck caches; null if none has had to. */
    private @Nullable AdmissionPhase admission;
    /** How many searches are left to calls until the next tick. */
    private int ofCalls = MOST_SEARCHES;
    /** Whether a cache has found no room that did before. */
    private boolean newlyStuck;
    /** Since when this manager has received reports of servers without a pause. */
    private long listening;
    /** Up to when this manager has received what clients sent. */
    private long listened;
    /** Counts all searches for room. */
    private long searches;
    /** Counts the searches that have found nothing or that only look ahead. */
    private long spent;

    /** @param goneNanos after a server was silent for this long, all leases on it have ended */
    public PlannedMoves(
            Caches caches,
            Servers servers,
            Clients clients,
            Allocator allocator,
            Allocator reserve,
            SpotLives lives,
            MigrationRates rates,
            ExpiredCacheReclaimer endings,
            MachineOrders orders,
            long goneNanos) {
        this.endings = endings;
        this.orders = orders;
        this.goneNanos = goneNanos;
        this.caches = caches;
        this.servers = servers;
        this.clients = clients;
        this.allocator = allocator;
        this.reserve = reserve;
        this.lives = lives;
        this.rates = rates;
    }

    /** Returns how often room was looked for: these searches are most of the work of a tick. */
    public long searches() {
        return searches;
    }

    /** Whether a move of a cache is planned or under way. */
    public boolean isMoving(long cacheId) {
        return moves.containsKey(cacheId);
    }

    /**
     * Returns how many regions of a cache are to leave a server by the move that is planned or under way; 0 if there is
     * none.
     *
     * @param soon whether a move counts only as long as it is likely to be made
     */
    int leaving(long cacheId, Servers.KnownServer server, boolean soon, long now) {
        Move move = moves.get(cacheId);
        CacheRecord cache = caches.find(cacheId);
        if (move == null || cache == null || move.serverId() != server.record.id()) {
            return 0;
        }
        int regions = Math.min(move.regions(), cache.regions().getOrDefault(move.serverId(), 0));
        boolean late = now - move.since() > PATIENCE_NANOS + 2 * takes(server, regions, cache.regionBytes());
        return soon && late ? 0 : regions;
    }

    /**
     * Returns how many regions of a cache leave a server, which wants memory back, by the move that is planned or under
     * way, however late; 0 if there is none. The cache had taken all its regions there when that was planned, so these
     * come back to no cache. Moves for other reasons may be planned before a cache has taken what it was promised.
     */
    int givenBack(long cacheId, Servers.KnownServer server, long now) {
        Move move = moves.get(cacheId);
        return move != null && move.reason() == Reason.PRESSURE ? leaving(cacheId, server, false, now) : 0;
    }

    /** Returns how many of a cache's regions leave a server that wants memory back in one move, at least 1. */
    int batch(CacheRecord cache, Servers.KnownServer server) {
        return Math.clamp(BATCH_NANOS / Math.max(1, takes(server, 1, cache.regionBytes())), 1, Integer.MAX_VALUE);
    }

    /**
     * Plans that some regions of a cache, which does not move, leave a server that wants memory back.
     *
     * @param most how many at most
     * @return how many, since there may be room for less
     */
    int planSome(CacheRecord cache, Servers.KnownServer server, int most, long now, long millis) {
        Set<Long> others = avoided(cache.id(), now);
        SortedMap<Long, Integer> found = some(cache, server, most, others, now, millis);
        int regions = found.values().stream().mapToInt(Integer::intValue).sum();
        if (regions > 0) {
            caches.put(cache.reserving(found));
            moves.put(cache.id(), new Move(server.record.id(), Reason.PRESSURE, now, false, regions));
            endings.forget(cache.id());
        }
        return regions;
    }

    private SortedMap<Long, Integer> some(
            CacheRecord cache, Servers.KnownServer server, int most, Set<Long> others, long now, long millis) {
        long left = server.record.id();
        try {
            return place(cache, most, left, Reason.PRESSURE, others, now, millis)
                    .regions();
        } catch (NoRoomException e) {
            int fewer = (int) Math.min(most - 1, e.most() / cache.regionBytes());
            if (fewer < 1) {
                return Collections.emptySortedMap();
            }
            try {
                return place(cache, fewer, left, Reason.PRESSURE, others, now, millis)
                        .regions();
            } catch (NoRoomException none) {
                return Collections.emptySortedMap();
            }
        }
    }

    /** Returns how many caches move for a reason. */
    long underWay(Reason reason) {
        return moves.values().stream().filter(move -> move.reason() == reason).count();
    }

    /** Returns the servers that caches are leaving whose clients were notified, and have not answered yet. */
    public Set<Long> left() {
        return moves.values().stream().filter(Move::told).map(Move::serverId).collect(Collectors.toUnmodifiableSet());
    }

    /** Room was reserved for a cache's growth, or for a move that its client has asked for. */
    public void grows(long cacheId, long now) {
        growing.put(cacheId, new Growth(now, 0, now));
        earlier.remove(cacheId);
    }

    /**
     * A client that moves its cache asks for its room again.
     *
     * @param there how many regions the cache has on all servers on which it has such room
     * @return false if no region has come for so long that the move has to end: then the room is not renewed
     */
    public boolean renews(long cacheId, int there, long now) {
        Growth before = growing.get(cacheId);
        long changed = before == null || before.there() != there ? now : before.changed();
        if (listened - changed > STILL_NANOS) {
            return false;
        }
        growing.put(cacheId, new Growth(now, there, changed));
        earlier.remove(cacheId);
        return true;
    }

    /**
     * Whether the cache has asked a moment ago for room to grow or for an optional move: it has the first right to that
     * room.
     */
    public boolean isGrowing(CacheRecord cache) {
        Growth growth = growing.get(cache.id());
        return growth != null && listened - growth.since() <= CacheManager.GROWTH_MILLIS * NANOS_PER_MILLI;
    }

    /**
     * A client has reported where its cache is. Its growth has ended; a planned move has if this answers its alert, or
     * no region is left to move.
     *
     * @return the room that stays reserved for regions that still have to move
     */
    public SortedMap<Long, Integer> settled(
            CacheRecord before, SortedMap<Long, Integer> regions, @Nullable ReclaimOutcome answer, long now) {
        growing.remove(before.id());
        earlier.remove(before.id());
        boolean gaveWay = announced.remove(before.id()) != null;
        boolean answers = isAnswer(before.id(), answer);
        Move move = moves.remove(before.id());
        if (move == null) {
            return Collections.emptySortedMap();
        }
        if (!answers) {
            // The client has not tried the targets, for example since the cache has become smaller.
            SortedMap<Long, Integer> kept = unused(before, regions, move);
            if (!kept.isEmpty()) {
                int room = kept.values().stream().mapToInt(Integer::intValue).sum();
                moves.put(before.id(), move.rest(room));
            }
            return kept;
        }
        before.reserved().forEach((target, reserved) -> {
            int got = regions.getOrDefault(target, 0) - before.regions().getOrDefault(target, 0);
            if (got < reserved && !gaveWay) {
                avoided.computeIfAbsent(before.id(), _ -> new HashMap<>()).put(target, now + AVOID_NANOS);
            }
        });
        int left = before.regions().getOrDefault(move.serverId(), 0) - regions.getOrDefault(move.serverId(), 0);
        Servers.KnownServer server = servers.find(move.serverId());
        if (left > 0 && server != null && answer != null && answer.beganMillisAgo() > 0) {
            // Its client did not know the targets before the move was planned.
            long from = Math.max(move.since(), now - nanos(answer.beganMillisAgo()));
            long to = Math.max(from, now - nanos(answer.endedMillisAgo()));
            rates.moved(server.record.id(), server.record.type(), left * before.regionBytes(), from, to, now);
        }
        return Collections.emptySortedMap();
    }

    private static long nanos(long millis) {
        return Math.min(millis, MOST_LEFT_MILLIS) * NANOS_PER_MILLI;
    }

    /** Whether a report answers the alert of the move that is planned, so that the client has tried the targets. */
    public boolean isAnswer(long cacheId, @Nullable ReclaimOutcome answer) {
        Move move = moves.get(cacheId);
        if (move == null || !move.told() || answer == null) {
            return false;
        }
        Servers.KnownServer server = servers.find(move.serverId());
        return server != null && server.record.address().equals(answer.server());
    }

    /** Returns the reserved room that the regions on the server that is to be left can still use. */
    private static SortedMap<Long, Integer> unused(CacheRecord before, SortedMap<Long, Integer> regions, Move move) {
        SortedMap<Long, Integer> unused = new TreeMap<>();
        int left = regions.getOrDefault(move.serverId(), 0);
        for (Map.Entry<Long, Integer> target : before.reserved().entrySet()) {
            long id = target.getKey();
            int used = regions.getOrDefault(id, 0) - before.regions().getOrDefault(id, 0);
            int room = Math.min(left, target.getValue() - Math.max(0, used));
            if (room > 0) {
                unused.put(id, room);
                left -= room;
            }
        }
        return unused;
    }

    /** A cache was removed or ended. */
    public void forget(long cacheId) {
        moves.remove(cacheId);
        announced.remove(cacheId);
        growing.remove(cacheId);
        earlier.remove(cacheId);
        avoided.remove(cacheId);
        stays.remove(cacheId);
        lateSaid.remove(cacheId);
        lateTold.remove(cacheId);
        unstick(cacheId);
    }

    /** No regions of a cache wait for room any more, or the next search will tell. */
    private void unstick(long cacheId) {
        denied.remove(cacheId);
        postponed.remove(cacheId);
        if (stuck.remove(cacheId) != null) {
            servers.giveUpKept(cacheId);
        }
    }

    /** The caches were reloaded from disk: all moves are planned again. */
    public void loaded(long now) {
        listening = now;
        listened = now;
        moves.clear();
        announced.clear();
        growing.clear();
        earlier.clear();
        avoided.clear();
        stays.clear();
        ahead.clear();
        denied.clear();
        postponed.clear();
        admission = null;
        roundBegan = null;
        List.copyOf(stuck.keySet()).forEach(this::unstick);
        for (CacheRecord cache : caches.all()) {
            if (cache.wanted() != 0 || !cache.reserved().isEmpty() && !leavesAny(cache)) {
                grows(cache.id(), now);
            } else if (!cache.reserved().isEmpty()) {
                // A move off a server that leaves is planned again when that server reports.
                earlier.put(cache.id(), now);
            }
        }
    }

    /** This manager has received what clients sent up to now, and so each renewal of room. */
    public void listened(long now) {
        listened = now;
    }

    /**
     * This manager stood still, or could not change anything: clients could not renew the room of their moves, and
     * servers could not report, so both count from now on.
     */
    public void stoodStill(long now) {
        listening = now;
        growing.replaceAll((_, growth) -> new Growth(now, growth.there(), now));
        earlier.replaceAll((_, _) -> now);
    }

    private boolean leavesAny(CacheRecord cache) {
        return cache.regions().keySet().stream()
                .map(servers::find)
                .anyMatch(server -> server != null && server.record.leaving());
    }

    /**
     * Gives up reserved room if the cache has not grown into it in time, has not made an optional move in time, or
     * would move from a server that is gone.
     */
    public void endUnused(long now) {
        List<Long> due = Stream.of(growing, earlier, moves)
                .flatMap(each -> each.keySet().stream())
                .distinct()
                .toList();
        for (long id : due) {
            CacheRecord cache = caches.find(id);
            if (cache == null || !(hasNotGrown(cache, now) || isForgotten(cache, now) || isLate(cache, now))) {
                continue;
            }
            caches.put(cache.placed(cache.capacity(), cache.regions()));
            growing.remove(cache.id());
            earlier.remove(cache.id());
            announced.remove(cache.id());
            Move move = moves.remove(cache.id());
            if (move != null && most(move.reason()) == EARLY_NANOS && now - move.since() > EARLY_NANOS) {
                stays.put(cache.id(), now + OPTIONAL_NANOS);
            }
        }
    }

    /** No room was found for a move ahead of the notice: the cache is not tried again for a while. */
    void rests(long cacheId, long now) {
        stays.put(cacheId, now + REST_NANOS);
    }

    /** Whether a cache was to move ahead of the notice and has not, or found no room: others come first. */
    boolean stays(long cacheId, long now) {
        Long until = stays.get(cacheId);
        if (until != null && now - until >= 0) {
            stays.remove(cacheId);
            return false;
        }
        return until != null;
    }

    /** A cache that leaves servers as it grows has as much time as for another optional move. */
    private boolean hasNotGrown(CacheRecord cache, long now) {
        Growth growth = growing.get(cache.id());
        boolean moves = cache.plan() != null && !cache.plan().left().isEmpty();
        return growth != null && (moves ? now - growth.since() > OPTIONAL_NANOS : !isGrowing(cache));
    }

    private boolean isForgotten(CacheRecord cache, long now) {
        Move move = moves.get(cache.id());
        return move != null
                && (isGone(move.serverId(), now)
                        || move.reason() != Reason.LEAVES && now - move.since() > most(move.reason())
                        || move.reason() == Reason.PRESSURE && !move.told() && !isPressed(move.serverId()));
    }

    private boolean isPressed(long serverId) {
        Servers.KnownServer server = servers.find(serverId);
        return server != null && Servers.isPressed(server);
    }

    private static long most(Reason reason) {
        return reason == Reason.ENDS_SOON || reason == Reason.PRESSURE ? EARLY_NANOS : OPTIONAL_NANOS;
    }

    /** Whether a server is gone, so that a cache's client has nothing to move off it, or cannot be notified. */
    private boolean isGone(long serverId, long now) {
        Servers.KnownServer server = servers.find(serverId);
        return server == null
                || server.report == null
                || now - server.reportedAt > goneNanos && now - listening > goneNanos && servers.anyHeard(now);
    }

    /** Whether none of the cache's servers has reported in time that it leaves. */
    private boolean isLate(CacheRecord cache, long now) {
        Long since = earlier.get(cache.id());
        return since != null && now - since > goneNanos;
    }

    /** Reserves room for the regions on servers that leave. */
    public void plan(long now, long millis) {
        ofCalls = MOST_SEARCHES;
        plan(MOST_SEARCHES, MOST_LOOKS, now, millis);
    }

    /**
     * @param most as in {@link #leave}; the next call continues with the others
     * @param looks as {@link #MOST_LOOKS}
     * @return whether the round has ended
     */
    private boolean plan(int most, int looks, long now, long millis) {
        List.copyOf(stuck.keySet()).stream().filter(id -> !waits(id, now)).forEach(this::unstick);
        ahead.keySet().retainAll(moves.keySet());
        denied.keySet().retainAll(avoided.keySet());
        looksUntil = endings.looks() + looks;
        long began = roundBegan == null ? servers.growths() : roundBegan;
        int left = most;
        for (Servers.KnownServer server : leaving(now)) {
            left = leave(server, left, now, millis);
        }
        // The room that there is is for the servers that end first.
        makesPostponedRoom(now, millis);
        if (left <= 0) {
            roundBegan = began;
            return false;
        }
        round++;
        roundBegan = null;
        // Those that came first in this round have not seen what has become free since.
        searchedAt = began;
        return true;
    }

    /**
     * Reserves room for regions that have found none, if any server has more to give than before: they would be lost.
     * Called before a cache gets room that could do without.
     *
     * @return whether all of them have looked, or the others have waited for long enough; if not, the cache has to ask
     *     again
     */
    public boolean planStuck(long now, long millis) {
        if (stuck.isEmpty() || servers.growths() == searchedAt || allLook(now, millis)) {
            admission = null;
            return true;
        }
        // Room becomes free all the time in a large cluster, so there may be no end of searches.
        AdmissionPhase phase = admission;
        if (phase == null || phase.open() && now - phase.since() > 2 * MOST_WAIT_NANOS) {
            phase = new AdmissionPhase(false, round, now);
        }
        long rounds = round - phase.round();
        long time = now - phase.since();
        boolean over =
                phase.open() ? rounds > 0 || time >= OPEN_NANOS : rounds >= MOST_ROUNDS || time >= MOST_WAIT_NANOS;
        admission = over ? new AdmissionPhase(!phase.open(), round, now) : phase;
        return admission.open();
    }

    private boolean allLook(long now, long millis) {
        if (ofCalls <= 0) {
            // The next tick looks for them.
            return false;
        }
        boolean late = roundBegan != null && roundBegan != servers.growths();
        long before = spent;
        // In a round that had begun before room became free, those that came first have not seen it.
        boolean all = plan(MOST_OF_A_CALL, 0, now, millis) && (!late || plan(MOST_OF_A_CALL, 0, now, millis));
        // A call that finds that all of them have looked goes through them, too.
        ofCalls -= (int) (spent - before) + 1;
        return all;
    }

    /** Whether a cache has regions on a server that leaves and is not gone, and does not leave that one already. */
    private boolean waits(long cacheId, long now) {
        CacheRecord cache = caches.find(cacheId);
        return cache != null && waiting(cache, source(cache, now), now) > 0;
    }

    /** Returns the server that a cache leaves, or {@link #NO_SERVER} if it leaves none for targets that stay. */
    private long source(CacheRecord cache, long now) {
        Move move = moves.get(cache.id());
        return move == null || !targetsStay(cache, now) || isPartOfLeaving(move) ? NO_SERVER : move.serverId();
    }

    /** Whether only some regions leave a server by a move, and all have to by now. */
    private boolean isPartOfLeaving(Move move) {
        Servers.KnownServer server = servers.find(move.serverId());
        return move.reason() == Reason.PRESSURE && server != null && server.record.leaving();
    }

    /**
     * Reserves room for the regions on a server that has reported again that it leaves. If any cache has found no room,
     * the next {@link #plan(long, long)} does that: it gives the room that there is to the servers that end first.
     */
    public void plan(Servers.KnownServer server, long now, long millis) {
        if (stuck.isEmpty() && server.record.leaving() && !servers.isSilent(server, now)) {
            looksUntil = endings.looks() + MOST_LOOKS;
            leave(server, MOST_SEARCHES, now, millis);
            round++;
        }
    }

    /** Whether the client of a cache has to give way to a server that leaves. */
    public boolean isAnnounced(long cacheId) {
        return announced.containsKey(cacheId);
    }

    /**
     * The client of a cache has given way to servers that leave: reserves room for its regions there before it can
     * reserve any for another change.
     */
    public void planAnnounced(long cacheId, long now, long millis) {
        if (!stuck.isEmpty()) {
            // Servers that end first get the room that there is.
            plan(now, millis);
            return;
        }
        for (long id : caches.require(cacheId).regions().keySet()) {
            Servers.KnownServer server = servers.find(id);
            if (server != null) {
                plan(server, now, millis);
            }
        }
    }

    /**
     * @param most how many searches may find nothing, or only look ahead
     * @return how many more may
     */
    @SuppressWarnings("ReferenceEquality")
    private int leave(Servers.KnownServer server, int most, long now, long millis) {
        int left = most;
        for (CacheRecord cache : on(server, millis)) {
            long cacheId = cache.id();
            if (caches.find(cacheId) != cache) {
                // It was ended since another cache needed its room.
                continue;
            }
            boolean its = cache.regions().containsKey(server.record.id());
            Move move = moves.get(cacheId);
            // By the other moves all regions leave the server.
            boolean partial = move != null && move.reason() == Reason.PRESSURE;
            boolean urgent = move == null
                    || partial
                    || move.reason() != Reason.LEAVES && move.serverId() != server.record.id()
                    || isSilent(move.serverId(), now)
                    || !targetsStay(cache, now)
                    || !move.told() && endsBefore(server, move.serverId());
            if (move != null && !partial && move.serverId() == server.record.id() && targetsStay(cache, now)) {
                // An optional move has become one with a deadline, of which its client is notified, too.
                moves.put(cacheId, new Move(move.serverId(), Reason.LEAVES, move.since(), move.told()));
            } else if (its && urgent && isGrowing(cache)) {
                announced.computeIfAbsent(cacheId, _ -> new TreeSet<>()).add(server.record.id());
            } else if (its && left > 0 && !wasTried(cacheId, now, millis)) {
                long before = spent;
                if (urgent) {
                    leavesOne(cache, now, millis);
                } else if (!hasLooked(cacheId, now, millis)) {
                    looksAhead(cache, server, now, millis);
                }
                left -= (int) (spent - before);
            }
            if (its && !urgent && ahead.containsKey(cacheId) && mustGiveWay(cache, server, now)) {
                announced.computeIfAbsent(cacheId, _ -> new TreeSet<>()).add(server.record.id());
            }
        }
        return left;
    }

    /**
     * Whether the move that a cache's client makes has to give way, between two regions, to one off another server:
     * that one ends before, and would end before all could leave it if the move went on.
     */
    private boolean mustGiveWay(CacheRecord cache, Servers.KnownServer server, long now) {
        Move move = moves.get(cache.id());
        Servers.KnownServer left = move == null ? null : servers.find(move.serverId());
        if (move == null || left == null || !move.told() || move.reason() != Reason.LEAVES) {
            return false;
        }
        long rest = Math.max(0, takes(cache, left) - (now - move.since()));
        return endsBefore(server, move.serverId())
                && rest > REACTION_NANOS
                && now + rest + REACTION_NANOS + takes(cache, server) - end(server) > 0;
    }

    /** Returns how long a cache's regions on a server take to leave it, by the rate that was measured. */
    private long takes(CacheRecord cache, Servers.KnownServer server) {
        return takes(server, cache.regions().getOrDefault(server.record.id(), 0), cache.regionBytes());
    }

    private long takes(Servers.KnownServer server, int regions, long regionBytes) {
        return rates.nanos(server.record.type(), (double) regions * regionBytes);
    }

    /** The log says if regions will be lost, since there is less time than they take to move. */
    private void sayIfLate(CacheRecord cache, Servers.KnownServer server, long now) {
        long left = Math.max(0, end(server) - now);
        long takes = takes(cache, server);
        if (takes > left && !Objects.equals(lateSaid.put(cache.id(), server.record.id()), server.record.id())) {
            LOG.log(
                    System.Logger.Level.WARNING,
                    "cache " + Caches.hex(cache.id()) + " of " + cache.name() + " has "
                            + Plurals.of(regions(cache, server), "region") + " on memory server "
                            + server.record.address() + ", which ends in " + left / NANOS_PER_SECOND
                            + " s, and they take " + takes / NANOS_PER_SECOND
                            + " s at the rate of its type: some would be lost");
        }
    }

    /**
     * Plans the move of a cache off one of its servers that leave. Those that end first come before the others and, of
     * several that end at the same time, the one with most of its regions: it leaves them one after the other, and time
     * may not be enough for all.
     */
    private void leavesOne(CacheRecord cache, long now, long millis) {
        Move move = moves.get(cache.id());
        // A move off a server that ends later is given up only for one that ends earlier.
        long later = move != null
                        && move.reason() == Reason.LEAVES
                        && !isSilent(move.serverId(), now)
                        && targetsStay(cache, now)
                ? move.serverId()
                : NO_SERVER;
        List<Servers.KnownServer> left = leavingOf(cache, now)
                .filter(one -> later == NO_SERVER || endsBefore(one, later))
                .sorted(Comparator.comparingInt(one -> -regions(cache, one)))
                .toList();
        long first = now + left.stream().mapToLong(one -> end(one) - now).min().orElse(0);
        List<Servers.KnownServer> order = left.stream()
                .sorted(Comparator.comparingLong(one -> steps(one, first)))
                .toList();
        // If so many regions had no room in a search, more have none in the next one.
        int refused = Integer.MAX_VALUE;
        for (Servers.KnownServer one : order) {
            int regions = regions(cache, one);
            boolean isFirst = refused == Integer.MAX_VALUE;
            boolean together = steps(one, first) == 0;
            if (isFirst || regions < refused && mayLeave(cache, order.getFirst(), together, now)) {
                if (plan(cache, one, Reason.LEAVES, Set.of(), now, millis) != null) {
                    break;
                }
                refused = regions;
            }
        }
    }

    /**
     * Whether a cache that finds no room for its regions on the first server may leave another one: what ended caches
     * will give is for the first one, as is what is kept if the other one ends later, unless what was ordered and what
     * they will give is less than the first one needs.
     *
     * @param together whether both servers end together
     */
    private boolean mayLeave(CacheRecord cache, Servers.KnownServer first, boolean together, long now) {
        int ordered = orders.ordered(cache.id());
        int made = servers.made(cache.id(), cache.threadsOfRegion(), now);
        return together && made == 0
                || ordered > 0 && ordered + made < cache.regions().getOrDefault(first.record.id(), 0)
                || servers.kept(cache.id()).isEmpty();
    }

    private static long steps(Servers.KnownServer server, long first) {
        return (end(server) - first) / SAME_NANOS;
    }

    /**
     * Looks for room for the regions on servers that leave of a cache that leaves another one first: it may take longer
     * to make that room than the notice lasts.
     */
    private void looksAhead(CacheRecord cache, Servers.KnownServer server, long now, long millis) {
        spent++;
        int regions =
                waiting(cache, Objects.requireNonNull(moves.get(cache.id())).serverId(), now);
        if (room(cache, regions, server.record.id(), Reason.LEAVES, Set.of(), now, millis)
                .isPresent()) {
            stuck.replace(cache.id(), RoomAttempt.NONE);
            postponed.remove(cache.id());
            ahead.put(cache.id(), new RoomAttempt(now, millis, servers.growths(), round));
        } else {
            EndingSearch search = new EndingSearch(regions, server.record.id(), Set.of(), true);
            findsNone(cache, server, search, now, millis, "");
        }
    }

    /** Returns how many regions a cache has on servers that leave, beside the one that it is leaving. */
    private int waiting(CacheRecord cache, long leaves, long now) {
        int regions = 0;
        for (Map.Entry<Long, Integer> share : cache.regions().entrySet()) {
            long id = share.getKey();
            Servers.KnownServer server = servers.find(id);
            boolean waits = server != null && server.record.leaving() && id != leaves && !isGone(id, now);
            regions += waits ? share.getValue() : 0;
        }
        return regions;
    }

    /** Whether no room was found in this round, or a moment ago and none has become free since. */
    private boolean wasTried(long cacheId, long now, long millis) {
        RoomAttempt none = stuck.get(cacheId);
        RoomAttempt last = none == null ? denied.get(cacheId) : none;
        return last != null
                && (last.round() == round || isFresh(last, now, millis) && servers.growths() == last.growths());
    }

    /** Whether room that a cache needs later was found in this round, or a moment ago. */
    private boolean hasLooked(long cacheId, long now, long millis) {
        RoomAttempt last = ahead.get(cacheId);
        return last != null && (last.round() == round || isFresh(last, now, millis));
    }

    private static boolean isFresh(RoomAttempt last, long now, long millis) {
        return now - last.nanos() < PAUSE_MILLIS * NANOS_PER_MILLI && Math.abs(millis - last.millis()) < PAUSE_MILLIS;
    }

    /**
     * Returns the servers that leave, those that end first before the others: a cache that is on several of them leaves
     * these one after the other.
     */
    private List<Servers.KnownServer> leaving(long now) {
        return servers.leaving()
                .filter(one -> !servers.isSilent(one, now))
                .sorted(Comparator.comparingLong((Servers.KnownServer one) -> end(one) - now)
                        .thenComparingLong(one -> one.record.id()))
                .toList();
    }

    /** Returns when a server that leaves will end, by the clock for time limits. */
    private static long end(Servers.KnownServer server) {
        ServerReport report = server.report;
        long left = report == null ? 0 : Math.min(report.leavesWithinMillis(), MOST_LEFT_MILLIS);
        return server.reportedAt + left * NANOS_PER_MILLI;
    }

    private boolean endsBefore(Servers.KnownServer server, long otherId) {
        Servers.KnownServer other = servers.find(otherId);
        return other != null && other != server && end(server) + SAME_NANOS - end(other) < 0;
    }

    /** Whether a server is silent or unknown: a move off it does not delay moves off other servers that leave. */
    private boolean isSilent(long serverId, long now) {
        Servers.KnownServer server = servers.find(serverId);
        return server == null || servers.isSilent(server, now);
    }

    /** Caches that have outlived their time come last, and so get the room that is left. */
    private List<CacheRecord> on(Servers.KnownServer server, long millis) {
        return server.caches().stream()
                .map(caches::find)
                .filter(Objects::nonNull)
                .sorted(Comparator.comparing((CacheRecord cache) -> endings.isOver(cache, millis)))
                .toList();
    }

    /**
     * Reserves room for a cache's regions on a server that it should leave, instead of the room that was reserved for
     * it before.
     *
     * @param others servers to which it does not move
     * @return where the regions will be, and what they will cost there; null if there is no room
     */
    @Nullable
    CachePlacement plan(
            CacheRecord cache, Servers.KnownServer server, Reason reason, Set<Long> others, long now, long millis) {
        int regions = regions(cache, server);
        // The cache may take the room that was reserved for it before.
        CacheRecord bare = cache.placed(cache.capacity(), cache.regions());
        servers.promise(cache, bare);
        CachePlacement found = null;
        Set<Long> setAside = avoided(cache.id(), now);
        Set<Long> without = new TreeSet<>(others);
        without.addAll(setAside);
        try {
            found = place(cache, regions, server.record.id(), reason, without, now, millis);
            return found;
        } catch (NoRoomException e) {
            spent++;
            // Without servers that are set aside, this search has seen all room.
            if (!setAside.isEmpty()
                    && room(cache, regions, server.record.id(), reason, others, now, millis)
                            .isPresent()) {
                // There is room, but a moment ago the cache did not get it: it is tried again soon.
                spent++;
                if (reason == Reason.LEAVES && !isStuckNow(cache.id())) {
                    unstick(cache.id());
                    denied.put(cache.id(), new RoomAttempt(now, millis, servers.growths(), round));
                }
            } else if (reason == Reason.LEAVES) {
                EndingSearch search = new EndingSearch(regions, server.record.id(), others, false);
                findsNone(cache, server, search, now, millis, ": " + e.getMessage());
            }
            return null;
        } finally {
            servers.promise(bare, cache);
            if (found != null) {
                int more = waiting(cache, server.record.id(), now);
                if (more > 0 && stuck.replace(cache.id(), RoomAttempt.NONE) != null) {
                    servers.takeKept(cache.id(), found.regions(), more);
                } else {
                    stuck.remove(cache.id());
                    servers.giveUpKept(cache.id());
                }
                ahead.remove(cache.id());
                denied.remove(cache.id());
                postponed.remove(cache.id());
                caches.put(cache.reserving(found.regions()));
                moves.put(cache.id(), new Move(server.record.id(), reason, now, false));
                if (reason == Reason.LEAVES) {
                    sayIfLate(cache, server, now);
                }
                announced.remove(cache.id());
                growing.remove(cache.id());
                earlier.remove(cache.id());
                endings.forget(cache.id());
            }
        }
    }

    /** Whether this round has found no room for a cache's regions on another server. */
    private boolean isStuckNow(long cacheId) {
        RoomAttempt none = stuck.get(cacheId);
        return none != null && none.round() == round;
    }

    /** Notes that there is no room, and makes some of expired caches if enough looks at them are left. */
    private void findsNone(
            CacheRecord cache, Servers.KnownServer server, EndingSearch search, long now, long millis, String why) {
        denied.remove(cache.id());
        if (stuck.put(cache.id(), new RoomAttempt(now, millis, servers.growths(), round)) == null) {
            newlyStuck = true;
            // If it has waited to grow, its regions that leave begin to wait now.
            endings.forget(cache.id());
            LOG.log(
                    System.Logger.Level.WARNING,
                    "no room for " + Plurals.of(search.regions(), "region") + " of cache " + Caches.hex(cache.id())
                            + " on memory server " + server.record.address() + ", which leaves" + why);
        }
        if (postponed.isEmpty() && endings.looks() < looksUntil) {
            makesRoom(cache, server, search, now, millis);
        } else {
            // A cache that leaves several servers searches for the one that ends first before it does for another.
            postponed.merge(cache.id(), search, (first, last) -> first.serverId() == last.serverId() ? last : first);
        }
    }

    private void makesPostponedRoom(long now, long millis) {
        while (!postponed.isEmpty() && endings.looks() < looksUntil) {
            Map.Entry<Long, EndingSearch> first = postponed.pollFirstEntry();
            CacheRecord cache = caches.find(first.getKey());
            Servers.KnownServer server = servers.find(first.getValue().serverId());
            if (cache != null
                    && server != null
                    && stuck.containsKey(cache.id())
                    && cache.regions().containsKey(server.record.id())) {
                // As in its search, it may take the room that was reserved for it, unless it moves there.
                boolean told = Optional.ofNullable(moves.get(cache.id()))
                        .map(Move::told)
                        .orElse(false);
                boolean stillMoves = source(cache, now) != NO_SERVER
                        && (told || first.getValue().ahead());
                CacheRecord bare = stillMoves ? cache : cache.placed(cache.capacity(), cache.regions());
                servers.promise(cache, bare);
                try {
                    makesRoom(cache, server, first.getValue(), now, millis);
                } finally {
                    servers.promise(bare, cache);
                }
            }
        }
    }

    /** Ends caches whose time is over if that makes enough room, and no machine does in time. */
    private void makesRoom(CacheRecord cache, Servers.KnownServer server, EndingSearch search, long now, long millis) {
        int regions = search.regions();
        int coming = orders.coming(cache, end(server));
        if (!endings.isOver(cache, millis) && (coming < regions || isForOthers(cache, search, coming, now))) {
            endings.makeRoom(
                    cache.id(),
                    cache.regionBytes(),
                    true,
                    () -> room(cache, regions, search.serverId(), Reason.LEAVES, search.others(), now, millis),
                    now,
                    millis);
        }
    }

    /** Whether more regions on other servers have room that is coming for a cache if these ones do not take it. */
    private boolean isForOthers(CacheRecord cache, EndingSearch search, int coming, long now) {
        List<Integer> others = search.ahead() ? List.of() : others(cache, search.serverId(), now);
        return coming <= others.stream().mapToInt(Integer::intValue).sum()
                && fitting(others, coming) > fitting(others, coming - search.regions());
    }

    /** Returns how many regions wait on each of the other servers, on those that end first before the others. */
    private List<Integer> others(CacheRecord cache, long serverId, long now) {
        long source = source(cache, now);
        return leavingOf(cache, now)
                .filter(one -> one.record.id() != serverId && one.record.id() != source)
                .sorted(Comparator.comparingLong(one -> end(one) - now))
                .map(one -> regions(cache, one))
                .toList();
    }

    /** Returns a cache's servers that leave and are heard, by number. */
    private Stream<Servers.KnownServer> leavingOf(CacheRecord cache, long now) {
        return cache.regions().keySet().stream()
                .map(servers::find)
                .filter(Objects::nonNull)
                .filter(one -> one.record.leaving() && !servers.isSilent(one, now));
    }

    private static int regions(CacheRecord cache, Servers.KnownServer server) {
        return Objects.requireNonNull(cache.regions().get(server.record.id()));
    }

    /** Returns how many regions fit if each server's either fit as a whole or do not. */
    private static int fitting(List<Integer> shares, int room) {
        int left = room;
        for (int share : shares) {
            left -= share <= left ? share : 0;
        }
        return room - left;
    }

    /** Returns the room that there is, also if it is on servers that are set aside for a moment. */
    private Optional<FreeRoom> room(
            CacheRecord cache, int regions, long server, Reason reason, Set<Long> others, long now, long millis) {
        try {
            CachePlacement found = place(cache, regions, server, reason, others, now, millis);
            return Optional.of(new FreeRoom(found.regions(), cache.threadsOfRegion()));
        } catch (NoRoomException e) {
            return Optional.empty();
        }
    }

    private CachePlacement place(
            CacheRecord cache, int regions, long server, Reason reason, Set<Long> others, long now, long millis)
            throws NoRoomException {
        searches++;
        servers.stock(now);
        Set<Long> left = new TreeSet<>(others);
        left.add(server);
        try (Servers.ServingTime _ = servers.serving(cache.id(), false)) {
            return place(cache, regions, left, reason, millis);
        } catch (NoRoomException e) {
            if (reason != Reason.LEAVES || !servers.keepsAny()) {
                throw e;
            }
        }
        // Caches that wait for room lose nothing if they wait for longer.
        try (Servers.ServingTime _ = servers.serving(cache.id(), true)) {
            return place(cache, regions, left, reason, millis);
        }
    }

    private CachePlacement place(CacheRecord cache, int regions, Set<Long> left, Reason reason, long millis)
            throws NoRoomException {
        if (reason == Reason.PRESSURE) {
            return lives.preferLasting(
                    left,
                    without -> allocator.more(
                            Caches.need(cache, millis).avoiding(without), cache.regionBytes(), regions, List.of()));
        }
        if (reason != Reason.LEAVES) {
            return allocator.more(Caches.need(cache, millis).avoiding(left), cache.regionBytes(), regions, List.of());
        }
        return lives.preferLasting(left, without -> any(cache, regions, without, millis));
    }

    private CachePlacement any(CacheRecord cache, int regions, Set<Long> left, long millis) throws NoRoomException {
        Need elsewhere = Caches.need(cache, millis).avoiding(left);
        try {
            return allocator.more(elsewhere, cache.regionBytes(), regions, List.of());
        } catch (NoRoomException e) {
            if (reserve == allocator) {
                throw e;
            }
            return reserve.more(elsewhere, cache.regionBytes(), regions, List.of());
        }
    }

    /**
     * A cache for whose regions on leaving servers there is no room.
     *
     * @param shares how many of them are on each of these servers, on those that end first before the others
     * @param made for how many of them caches that are being ended will give room in a moment
     */
    public record StuckCache(CacheRecord cache, List<Integer> shares, int made) {

        /** Returns how many these are together. */
        public int regions() {
            return shares.stream().mapToInt(Integer::intValue).sum();
        }

        /** Returns for how many of them room is missing. */
        public int missing() {
            return Math.max(0, regions() - made);
        }
    }

    /** Whether {@link #stuck} has a cache that it did not have at the last call. */
    public boolean isAnyNewlyStuck() {
        return newlyStuck;
    }

    /** Whether all regions on leaving servers that wait for room have looked since any has become free. */
    boolean haveAllLooked() {
        return stuck.isEmpty() || roundBegan == null && servers.growths() == searchedAt;
    }

    /** Whether regions on leaving servers wait for room. */
    public boolean anyStuck() {
        return !stuck.isEmpty();
    }

    /** Whether no room was found for a cache's regions on a leaving server. */
    public boolean isStuck(long cacheId) {
        return stuck.containsKey(cacheId);
    }

    /**
     * Returns all such caches, those on servers that end first before the others: the last search of each has found no
     * room.
     */
    public List<StuckCache> stuck(long now, long millis) {
        newlyStuck = false;
        if (stuck.isEmpty()) {
            return List.of();
        }
        Map<Long, List<Integer>> all = new LinkedHashMap<>();
        for (Servers.KnownServer server : leaving(now)) {
            for (CacheRecord cache : on(server, millis)) {
                Integer regions = cache.regions().get(server.record.id());
                // If a target leaves, too, all that is moving there has to go elsewhere.
                if (regions != null && stuck.containsKey(cache.id()) && source(cache, now) != server.record.id()) {
                    all.computeIfAbsent(cache.id(), _ -> new ArrayList<>()).add(regions);
                }
            }
        }
        return all.entrySet().stream()
                .map(one -> {
                    CacheRecord cache = caches.require(one.getKey());
                    return new StuckCache(cache, one.getValue(), endings.coming(cache, now));
                })
                .toList();
    }

    /** Returns servers on which a cache did not get its reserved regions a moment ago. */
    Set<Long> avoided(long cacheId, long now) {
        Map<Long, Long> until = avoided.get(cacheId);
        if (until == null) {
            return new TreeSet<>();
        }
        until.values().removeIf(end -> end - now <= 0);
        if (until.isEmpty()) {
            avoided.remove(cacheId);
        }
        return new TreeSet<>(until.keySet());
    }

    private boolean targetsStay(CacheRecord cache, long now) {
        return cache.reserved().keySet().stream().allMatch(id -> {
            Servers.KnownServer target = servers.find(id);
            return target != null && !target.record.leaving() && !servers.isSilent(target, now);
        });
    }

    /** Notifies clients of moves that are on disk, and of servers that leave, if they were not notified of these. */
    public void alert(long now) {
        for (Map.Entry<Long, Move> each : moves.entrySet()) {
            CacheRecord cache = caches.require(each.getKey());
            Move move = each.getValue();
            if (tell(cache, move.serverId(), move.reason(), cache.reserved(), now)) {
                each.setValue(move.notified());
            }
        }
        announced.forEach((cache, leaving) -> leaving.forEach(
                server -> tell(caches.require(cache), server, Reason.LEAVES, Collections.emptySortedMap(), now)));
    }

    /**
     * Notifies clients of regions that cannot leave their servers before these end, once over each line, and again if
     * twice as many cannot.
     */
    public void alertLate(long now) {
        Set<Long> all = leaving(now).stream()
                .flatMap(server -> server.caches().stream())
                .collect(Collectors.toCollection(TreeSet::new));
        lateTold.keySet().retainAll(all);
        for (long id : all) {
            CacheRecord cache = caches.find(id);
            Clients.ClientLine line = clients.line(id);
            if (cache != null && line != null) {
                late(cache, now).forEach(move -> tellLate(id, move, line));
            }
        }
    }

    private void tellLate(long cacheId, LateMove move, Clients.ClientLine line) {
        Map<String, LateNotice> told = lateTold.computeIfAbsent(cacheId, _ -> new HashMap<>());
        LateNotice before = told.get(move.server());
        if (before == null || !before.line().equals(line) || move.lost() / 2 >= before.lost()) {
            told.put(move.server(), new LateNotice(line, move.lost()));
            line.tell(listener -> listener.late(cacheId, move));
        }
    }

    /**
     * Returns the servers that leave, and from which not all regions of a cache can move before these end, if nothing
     * changes: it leaves them one after the other, at the rate that was measured, and for some there may be no room.
     */
    public List<LateMove> late(CacheRecord cache, long now) {
        if (servers.leaving().findAny().isEmpty()) {
            return List.of();
        }
        long source = source(cache, now);
        Move move = moves.get(cache.id());
        RoomAttempt none = stuck.get(cache.id());
        boolean waits = none != null && !none.equals(RoomAttempt.NONE);
        List<LateMove> late = new ArrayList<>();
        long busy = 0;
        for (Servers.KnownServer server : inOrder(cache, source, now)) {
            boolean first = server.record.id() == source;
            long left = Math.max(0, end(server) - now);
            long takes = takes(cache, server);
            long passed = first && move != null && move.told() ? now - move.since() : 0;
            boolean room = first || !waits;
            if (room) {
                busy = Math.min(MOST_BUSY_NANOS, busy + Math.max(0, Math.min(MOST_BUSY_NANOS, takes) - passed));
            }
            int regions = regions(cache, server);
            int lost = room ? lost(regions, takes, busy - left) : regions;
            if (lost > 0) {
                late.add(new LateMove(server.record.address(), regions, lost, left / NANOS_PER_MILLI, room));
            }
        }
        return late;
    }

    /**
     * Returns a cache's servers that leave, in the order in which it leaves them: those first to which the move that is
     * under way has to give way.
     */
    private List<Servers.KnownServer> inOrder(CacheRecord cache, long source, long now) {
        Set<Long> before = announced.getOrDefault(cache.id(), Set.of());
        return leavingOf(cache, now)
                .sorted(Comparator.comparing((Servers.KnownServer one) -> !before.contains(one.record.id()))
                        .thenComparing(one -> one.record.id() != source)
                        .thenComparingLong(one -> end(one) - now))
                .toList();
    }

    /** @param over the time that is missing for regions that take some time together */
    private static int lost(int regions, long takes, long over) {
        return over <= 0 ? 0 : (int) Math.min(regions, Math.ceil((double) regions * over / Math.max(1, takes)));
    }

    /** @return whether the client was notified now */
    private boolean tell(CacheRecord cache, long serverId, Reason reason, SortedMap<Long, Integer> targets, long now) {
        Servers.KnownServer server = servers.find(serverId);
        Clients.ClientLine line = clients.line(cache.id());
        ServerReport report = server == null ? null : server.report;
        if (line == null
                || server == null
                || report == null
                || !caches.isWritten(cache.id())
                || !line.hearsFirst(cache, serverId, reason)) {
            return false;
        }
        long ago = (now - server.reportedAt) / NANOS_PER_MILLI;
        Reclaim alert = new Reclaim(
                cache.id(),
                cache.generation(),
                reason,
                server.record.address(),
                Math.max(0, report.leavesWithinMillis() - ago),
                servers.shares(cache, targets));
        line.tell(listener -> listener.reclaim(alert));
        return true;
    }
}
