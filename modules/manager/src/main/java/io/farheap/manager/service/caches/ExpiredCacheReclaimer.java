package io.farheap.manager.service.caches;

import io.farheap.manager.ServerReport;
import io.farheap.manager.service.servers.FreeRoom;
import io.farheap.manager.service.servers.Servers;
import io.farheap.manager.state.CacheRecord;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.LongConsumer;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Ends caches that have outlived their time, which is the duration of Redy's Allocate (section 3.2). If other caches
 * find no room, it ends as many of them as that takes, those that expired first before the others. An end is written to
 * disk, then sent to the client and to the servers, which take back the cache's regions; these become free for other
 * caches when the servers report that they have. Guarded by the manager's lock.
 */
public final class ExpiredCacheReclaimer {

    private static final System.Logger LOG = System.getLogger(ExpiredCacheReclaimer.class.getName());

    /**
     * For how long after the end of a cache its room is still expected. Its client may be stopped in the middle of an
     * operation.
     */
    private static final long COMING_NANOS = 10_000_000_000L;
    /** How long a cache that finds no room waits for caches that are ended. */
    private static final long WAIT_NANOS = 20_000_000_000L;
    /** For how long a cache that finds no room counts on ended caches' room alone: it is free after 2 to 3 s. */
    private static final long SOON_NANOS = 5_000_000_000L;
    /** For how long it is known which caches were tried in vain: hundreds that find no room wait for their turns. */
    private static final long VAIN_NANOS = 600_000_000_000L;
    /** Between two looks for caches that were ended weeks ago. */
    private static final long FORGET_NANOS = 60_000_000_000L;
    /** How many caches are tried together at first, and then more. */
    private static final int FIRST = 16;

    private static final int MORE = 8;
    /** The most caches that are tried together for one that finds no room. */
    private static final int MOST = FIRST * MORE * MORE;
    /** The most among which these are looked for. */
    private static final int MOST_SEEN = 4 * MOST;
    /** So many of them are tried with those that follow, too. */
    private static final int SHARED = MOST / 4;
    /** So many looks at most it takes to leave out those that are not needed; then some of these are ended, too. */
    private static final int MOST_LEFT_OUT = 4 * MOST;
    /** At least so many searches, each of which looks at all that are being ended: one of a thousand takes some 22. */
    private static final long LEAST_STEPS = 32;
    /** So many caches that are only seen count as one look. */
    private static final int SEEN_OF_A_LOOK = 16;

    private final Caches caches;
    private final Servers servers;
    private final Clients clients;
    private final ExpiryNotifier expiry;
    private final LongConsumer forget;
    /** Since when each cache is ended; a new manager counts from the first time that it looks for room. */
    private final Map<Long, Long> since = new HashMap<>();
    /** By cache: the line over which its client was notified of the end. */
    private final Map<Long, Clients.ClientLine> told = new HashMap<>();
    /** By cache: since when it waits for the room of ended caches. */
    private final Map<Long, Long> waiting = new TreeMap<>();
    /** By cache that finds no room: up to where others were tried in vain; then it continues behind these. */
    private final Map<Long, VainTrial> vain = new HashMap<>();
    /** When it was looked for caches that were ended weeks ago. */
    private long forgot;
    /** Counts the caches that it has looked at, or left out of a search. */
    private long looks;

    /**
     * The cache behind which the next trial begins.
     *
     * @param millis when that one's time has ended
     * @param since when it was tried
     */
    private record VainTrial(long millis, long id, long since) {
        private static final VainTrial NONE = new VainTrial(0, Long.MAX_VALUE, 0);

        private static VainTrial of(CacheRecord cache, long now) {
            return new VainTrial(cache.terms().expiresAtMillis(), cache.id(), now);
        }
    }

    /** @param forget called with each cache that is ended */
    public ExpiredCacheReclaimer(
            Caches caches, Servers servers, Clients clients, ExpiryNotifier expiry, LongConsumer forget) {
        this.caches = caches;
        this.servers = servers;
        this.clients = clients;
        this.expiry = expiry;
        this.forget = forget;
    }

    /**
     * Ends caches for a cache that finds no room, if that gives it enough, and keeps for it the room that it will get
     * then. The caller gives that up ({@link Servers#giveUpKept}) if the cache does not wait for it any more; this does
     * if the room has not come. For regions on a server that leaves it tries a thousand at one call, and continues with
     * the next ones at another.
     *
     * @param regionBytes the size of the regions that the cache can use; 0 for any
     * @param firm as in {@link Servers#keep}
     * @param room returns the room that it would get; empty if there is not enough
     * @return whether there will be room, so that waiting for it is worthwhile; false after a cache has waited too long
     */
    public boolean makeRoom(
            long forCache, long regionBytes, boolean firm, Supplier<Optional<FreeRoom>> room, long now, long millis) {
        if (now - waiting.getOrDefault(forCache, now) > WAIT_NANOS) {
            servers.giveUpMade(forCache);
            return false;
        }
        List<CacheRecord> coming = caches.ended().stream()
                .filter(over -> now - since.computeIfAbsent(over.id(), _ -> now) <= COMING_NANOS)
                .toList();
        Optional<FreeRoom> found = coming.isEmpty() ? Optional.empty() : without(coming, room);
        if (found.isEmpty()) {
            List<CacheRecord> enough = enough(forCache, regionBytes, room, coming, now, millis);
            // The client of a cache that is refused does not ask again.
            for (int trials = 1; !firm && enough.isEmpty() && vain.containsKey(forCache) && trials < MORE; trials++) {
                enough = enough(forCache, regionBytes, room, coming, now, millis);
            }
            if (enough.isEmpty()) {
                servers.giveUpMade(forCache);
                return false;
            }
            List<CacheRecord> giving = giving(first(enough, coming, room), coming, room);
            long most = Math.max(MOST_LEFT_OUT, LEAST_STEPS * (coming.size() + giving.size()));
            List<CacheRecord> needed = fewest(giving, coming, room, looks + most);
            found = without(both(coming, needed), room);
            needed.forEach(cache -> end(cache, now, millis));
        }
        found.ifPresent(there -> servers.keepMade(forCache, there, firm));
        waiting.putIfAbsent(forCache, now);
        return true;
    }

    /** A cache has its room, or waits for it no longer. */
    public void forget(long cacheId) {
        waiting.remove(cacheId);
        vain.remove(cacheId);
    }

    /** Returns how many caches it has looked at since it began: what its work grows with. */
    public long looks() {
        return looks;
    }

    /** Returns how many of a cache's regions will soon have room on which caches that are being ended still are. */
    public int coming(CacheRecord cache, long now) {
        Long began = waiting.get(cache.id());
        return began == null || now - began > SOON_NANOS ? 0 : servers.made(cache.id(), cache.threadsOfRegion(), now);
    }

    private Optional<FreeRoom> without(List<CacheRecord> gone, Supplier<Optional<FreeRoom>> room) {
        looks += gone.size();
        return servers.without(gone, room);
    }

    /** @return the caches that expired first and together give enough room; empty if all that it tries do not */
    private List<CacheRecord> enough(
            long forCache,
            long regionBytes,
            Supplier<Optional<FreeRoom>> room,
            List<CacheRecord> coming,
            long now,
            long millis) {
        VainTrial last = vain.getOrDefault(forCache, VainTrial.NONE);
        List<CacheRecord> seen = caches.endingAfter(last.millis(), last.id(), millis, MOST_SEEN);
        if (seen.isEmpty() && vain.remove(forCache) != null) {
            // Those were the last ones.
            seen = caches.endingAfter(VainTrial.NONE.millis(), VainTrial.NONE.id(), millis, MOST_SEEN);
        }
        boolean continues = vain.containsKey(forCache);
        List<CacheRecord> all = seen.stream()
                .filter(cache -> regionBytes == 0 || cache.regionBytes() == regionBytes)
                .filter(cache -> cache.id() != forCache && mayGive(cache, now, millis))
                .limit(MOST)
                .toList();
        looks += seen.size() / SEEN_OF_A_LOOK;
        if (all.size() == MOST) {
            // One of them and one behind them may be enough together.
            vain.put(forCache, VainTrial.of(all.get(MOST - SHARED - 1), now));
        } else if (seen.size() == MOST_SEEN) {
            vain.put(forCache, VainTrial.of(seen.getLast(), now));
        } else {
            vain.remove(forCache);
        }
        // The first of those that continue a trial were tried with others already.
        for (long most = continues ? MOST : FIRST; !all.isEmpty(); most *= MORE) {
            List<CacheRecord> some = all.subList(0, (int) Math.min(most, all.size()));
            if (without(both(coming, some), room).isPresent()) {
                vain.remove(forCache);
                return some;
            }
            if (some.size() == all.size()) {
                break;
            }
        }
        return List.of();
    }

    /** Whether a cache's time is over, also if the time of day had not been moved ahead. */
    public boolean isOver(CacheRecord cache, long millis) {
        return expiry.isOver(cache, millis);
    }

    private boolean mayGive(CacheRecord cache, long now, long millis) {
        return expiry.mayEnd(cache, now, millis) && caches.isWritten(cache.id()) && servers.gives(cache, now);
    }

    /** Returns as few of the caches that expired first as give enough room together. */
    private List<CacheRecord> first(
            List<CacheRecord> enough, List<CacheRecord> others, Supplier<Optional<FreeRoom>> room) {
        int tooFew = 0;
        int most = enough.size();
        while (most - tooFew > 1) {
            int some = (tooFew + most) / 2;
            if (without(both(others, enough.subList(0, some)), room).isPresent()) {
                most = some;
            } else {
                tooFew = some;
            }
        }
        return enough.subList(0, most);
    }

    /**
     * Returns those of some caches that have regions where room is found without all of them, as many as that takes.
     */
    private List<CacheRecord> giving(
            List<CacheRecord> enough, List<CacheRecord> others, Supplier<Optional<FreeRoom>> room) {
        Map<Long, Integer> missing = new HashMap<>();
        without(both(others, enough), room).ifPresent(found -> missing.putAll(found.regions()));
        List<CacheRecord> giving = new ArrayList<>();
        for (CacheRecord cache : enough) {
            boolean gives = false;
            for (Map.Entry<Long, Integer> share : cache.regions().entrySet()) {
                int before = missing.getOrDefault(share.getKey(), 0);
                gives |= before > 0;
                missing.put(share.getKey(), before - share.getValue());
            }
            if (gives) {
                giving.add(cache);
            }
        }
        return without(both(others, giving), room).isPresent() ? giving : enough;
    }

    /**
     * Leaves out the caches that are not needed beside the others: tries by halves, the later ones first.
     *
     * @param until as {@link #looks}: then it leaves out no more
     */
    private List<CacheRecord> fewest(
            List<CacheRecord> enough, List<CacheRecord> others, Supplier<Optional<FreeRoom>> room, long until) {
        if (looks >= until) {
            return enough;
        }
        if (without(others, room).isPresent()) {
            return List.of();
        }
        if (enough.size() == 1) {
            return enough;
        }
        List<CacheRecord> earlier = enough.subList(0, enough.size() / 2);
        List<CacheRecord> later = enough.subList(enough.size() / 2, enough.size());
        List<CacheRecord> needed = fewest(later, both(others, earlier), room, until);
        return both(fewest(earlier, both(others, needed), room, until), needed);
    }

    private static List<CacheRecord> both(List<CacheRecord> some, List<CacheRecord> more) {
        List<CacheRecord> both = new ArrayList<>(some);
        both.addAll(more);
        return both;
    }

    private void end(CacheRecord cache, long now, long millis) {
        LOG.log(
                System.Logger.Level.WARNING,
                "cache " + Caches.hex(cache.id()) + " of " + cache.name() + " is ended, " + -expiry.left(cache, millis)
                        + " ms after its time: others need its room");
        // What is late is remembered from the end, and not from the end of its time, which may be weeks before.
        caches.end(cache.until(millis));
        since.put(cache.id(), now);
        forget.accept(cache.id());
    }

    /** Notifies the clients of the ends that are on disk, once over each line. */
    public void alert() {
        for (CacheRecord over : caches.ended()) {
            Clients.ClientLine line = clients.line(over.id());
            if (line != null && caches.isWritten(over.id()) && told.put(over.id(), line) != line) {
                line.tell(listener -> listener.ended(over.id(), Caches.WHY));
            }
        }
    }

    /**
     * A client names its caches: it is notified of those that have ended and were freed, since servers of theirs were
     * given up.
     */
    public void claimed(Clients.ClientLine line, Set<Long> cacheIds) {
        if (!caches.anyLate()) {
            return;
        }
        for (long id : cacheIds) {
            if (caches.isLate(id) && caches.isWritten(id) && told.put(id, line) != line) {
                line.tell(listener -> listener.ended(id, Caches.WHY));
            }
        }
    }

    /** Returns the ended caches that a server has to take back, and of which it has not reported that it has. */
    public Set<Long> of(Servers.KnownServer server) {
        return over(server).filter(caches::isWritten).collect(Collectors.toUnmodifiableSet());
    }

    /** Whether a server has to take back any cache, also if the end of that is not on disk yet. */
    public boolean concern(Servers.KnownServer server) {
        return over(server).findAny().isPresent();
    }

    /** Also those that were freed, since the server was given up: it has returned, or has regions of one that was. */
    private Stream<Long> over(Servers.KnownServer server) {
        ServerReport report = server.report;
        return report == null
                ? Stream.empty()
                : caches.overOn(server.record.id(), report.held().keySet()).stream()
                        .filter(id -> !report.ended().contains(id));
    }

    /** A server has reported which ended caches it has taken back, some of them perhaps late. */
    public void freeLate(Servers.KnownServer server) {
        if (caches.anyLate() && server.report != null) {
            for (long id : server.report.ended()) {
                caches.freedLate(id, server.record.id());
            }
            told.keySet().removeIf(id -> !caches.isEnded(id) && !caches.isLate(id));
        }
    }

    /**
     * Frees the regions that servers have taken back.
     *
     * @param some of the caches that were ended
     * @return whether any cache was freed
     */
    public boolean free(Stream<CacheRecord> some) {
        List<CacheRecord> freed = some.filter(over -> caches.isWritten(over.id()) && isTakenBack(over))
                .toList();
        for (CacheRecord over : freed) {
            caches.freed(over, givenUp(over));
            since.remove(over.id());
            told.remove(over.id());
            clients.forget(over.id());
        }
        return !freed.isEmpty();
    }

    /** Whether all servers of an ended cache have taken back its regions, or are gone. */
    private boolean isTakenBack(CacheRecord over) {
        return servers.of(over).allMatch(server -> hasTakenBack(server, over) || servers.isGone(server));
    }

    /** Returns the servers of an ended cache that have not taken back its regions, and may return. */
    private Set<Long> givenUp(CacheRecord over) {
        return Stream.concat(over.regions().keySet().stream(), over.reserved().keySet().stream())
                .filter(id -> {
                    Servers.KnownServer server = servers.find(id);
                    return server == null || !hasTakenBack(server, over) && !servers.hasEnded(server);
                })
                .collect(Collectors.toUnmodifiableSet());
    }

    private static boolean hasTakenBack(Servers.KnownServer server, CacheRecord over) {
        return server.report != null && server.report.ended().contains(over.id());
    }

    /** Forgets caches whose wait for room ended long ago, and that others were ended weeks ago. */
    public void forgetLate(long now, long millis) {
        if (now - forgot > FORGET_NANOS) {
            forgot = now;
            caches.forgetLate(millis);
        }
        waiting.entrySet().removeIf(one -> {
            boolean late = now - one.getValue() > 2 * WAIT_NANOS;
            if (late) {
                servers.giveUpMade(one.getKey());
            }
            return late;
        });
        vain.values().removeIf(trial -> now - trial.since() > VAIN_NANOS);
        // A cache whose end could not be written has not ended.
        since.keySet().removeIf(id -> !caches.isEnded(id));
    }
}
