package io.farheap.manager.service.caches;

import io.farheap.manager.state.AllocationTerms;
import io.farheap.manager.state.CacheRecord;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Notifies clients of caches whose time ends soon. Guarded by the manager's lock. */
public final class ExpiryNotifier {

    /** How long before the end the client is notified. */
    private static final long BEFORE_MILLIS = 30_000;

    private static final long NANOS_PER_MILLI = 1_000_000;
    /** How many caches one call looks at, of those whose end has come near, and of all that end soon or have ended. */
    private static final int MOST = 1_000;

    private final Caches caches;
    private final Clients clients;
    /** By cache: the end that its client was notified of, and over which line. */
    private final Map<Long, ExpiryNotice> told = new HashMap<>();

    /** @param inTime whether time was left, also by the monotonic clock: this manager itself has set the end */
    private record ExpiryNotice(Clients.ClientLine line, long expiresAtMillis, long since, boolean inTime) {}

    /** A cache in the order of ends. */
    private record Position(long millis, long id) {
        private static final Position FIRST = new Position(0, Long.MAX_VALUE);

        private static Position of(CacheRecord cache) {
            return new Position(cache.terms().expiresAtMillis(), cache.id());
        }
    }

    /** The last one whose end has come near; null before the first call. */
    private @Nullable Position newest;
    /** The last one of all that was looked at. */
    private Position looked = Position.FIRST;
    /** Caches whose time was set to end so soon that {@link #newest} is behind them. */
    private final Set<Long> soon = new LinkedHashSet<>();

    private final ClockJumps clock;
    /**
     * By cache whose end was set after the time of day was moved, and by end: by how many ms it was ahead then. An end
     * that cannot be written is replaced by the one before.
     */
    private final Map<Long, Map<Long, Long>> setAhead = new HashMap<>();
    /** Those of them whose last end may not be on disk. */
    private final Set<Long> unsettled = new LinkedHashSet<>();
    /** By cache: the end that this manager has set last, so that it cannot be wrong about what is left. */
    private final Map<Long, Long> set = new HashMap<>();
    /** How many notices were left when those of caches that are gone were forgotten. */
    private int left;

    public ExpiryNotifier(Caches caches, Clients clients, ClockJumps clock) {
        this.clock = clock;
        this.caches = caches;
        this.clients = clients;
    }

    /**
     * Whether a cache may be ended: its time has ended, also if the time of day had not been moved ahead since it was
     * set, and its client was notified half a minute ago, or is gone. If this manager has set that time it is enough
     * that the client was notified before: an earlier manager may have had another time of day, and then the client
     * needs half a minute to correct it.
     */
    boolean mayEnd(CacheRecord cache, long now, long millis) {
        long expires = cache.terms().expiresAtMillis();
        if (expires == 0) {
            return false;
        }
        clock.look();
        if (!isOver(cache, millis)) {
            return false;
        }
        ExpiryNotice heard = told.get(cache.id());
        if (heard == null || heard.expiresAtMillis() != expires) {
            return clients.isAbandoned(cache.id());
        }
        return heard.inTime() || now - heard.since() >= BEFORE_MILLIS * NANOS_PER_MILLI;
    }

    /** Whether a cache's time has ended, also if the time of day had not been moved ahead since that was set. */
    boolean isOver(CacheRecord cache, long millis) {
        return cache.terms().expiresAtMillis() != 0 && left(cache, millis) <= 0;
    }

    /**
     * Returns the ms that are left to a cache that has an end, also if the time of day had not been moved ahead since
     * that was set; 0 or less if it is over.
     */
    public long left(CacheRecord cache, long millis) {
        long expires = cache.terms().expiresAtMillis();
        long moved = clock.ahead() - setAhead.getOrDefault(cache.id(), Map.of()).getOrDefault(expires, 0L);
        return expires - (millis - Math.max(0, moved));
    }

    /** The end of a cache's time was set: if that is near already, the next {@link #alert} notifies its client. */
    public void ends(CacheRecord cache, long millis) {
        long expires = cache.terms().expiresAtMillis();
        // A move since the last look counts as one after this: then the cache ends later, and not earlier.
        long ahead = clock.ahead();
        if (expires == 0) {
            set.remove(cache.id());
        } else {
            set.put(cache.id(), expires);
        }
        if (ahead != 0 || setAhead.containsKey(cache.id())) {
            setAhead.computeIfAbsent(cache.id(), _ -> new HashMap<>()).put(expires, ahead);
            unsettled.add(cache.id());
        }
        if (expires != 0 && expires - millis <= BEFORE_MILLIS) {
            soon.add(cache.id());
        }
    }

    /**
     * Notifies the clients of caches whose time has ended or ends soon, once over each line for each end: those whose
     * end has come near since the last call, and some of the others after each other.
     */
    public void alert(long now, long millis) {
        clock.look();
        if (told.size() > 2 * left + MOST) {
            told.keySet().removeIf(cache -> caches.find(cache) == null);
            left = told.size();
        }
        if (setAhead.size() > 2 * caches.all().size() + MOST) {
            setAhead.keySet().removeIf(cache -> caches.find(cache) == null);
        }
        if (set.size() > 2 * caches.all().size() + MOST) {
            set.keySet().removeIf(cache -> caches.find(cache) == null);
        }
        unsettled.removeIf(id -> {
            CacheRecord cache = caches.find(id);
            if (cache != null && caches.isWritten(id)) {
                Set<Long> end = Set.of(cache.terms().expiresAtMillis());
                setAhead.computeIfPresent(
                        id, (_, ends) -> ends.keySet().retainAll(end) && ends.isEmpty() ? null : ends);
            }
            return cache == null || caches.isWritten(id);
        });
        for (long id : List.copyOf(soon)) {
            CacheRecord cache = caches.find(id);
            long remaining = cache == null ? 0 : left(cache, millis);
            // One that was given more time is notified when its new end has come near.
            if (cache == null || remaining <= 0 || remaining > BEFORE_MILLIS) {
                soon.remove(id);
            } else if (clients.line(id) != null && caches.isWritten(id)) {
                soon.remove(id);
                alert(cache, now, millis);
            }
        }
        long until = millis + BEFORE_MILLIS;
        if (newest == null) {
            newest = new Position(millis, Long.MAX_VALUE);
        }
        List<CacheRecord> near = caches.endingAfter(newest.millis(), newest.id(), until, MOST);
        near.forEach(cache -> alert(cache, now, millis));
        newest = near.isEmpty() ? newest : Position.of(near.getLast());
        List<CacheRecord> others = caches.endingAfter(looked.millis(), looked.id(), until, MOST);
        others.forEach(cache -> alert(cache, now, millis));
        looked = others.size() < MOST ? Position.FIRST : Position.of(others.getLast());
    }

    /** Whether this manager itself has set the end that a cache has. */
    private boolean isSet(CacheRecord cache) {
        return set.getOrDefault(cache.id(), 0L) == cache.terms().expiresAtMillis();
    }

    private void alert(CacheRecord cache, long now, long millis) {
        AllocationTerms terms = cache.terms();
        long remaining = left(cache, millis);
        Clients.ClientLine line = clients.line(cache.id());
        // What the clock has brought near is looked at again as long as it seems near.
        if (line == null || remaining > BEFORE_MILLIS || !caches.isWritten(cache.id())) {
            return;
        }
        ExpiryNotice before = told.get(cache.id());
        ExpiryNotice same = before != null && before.expiresAtMillis() == terms.expiresAtMillis() ? before : null;
        if (same == null || same.line() != line) {
            told.put(
                    cache.id(),
                    same != null
                            ? new ExpiryNotice(line, same.expiresAtMillis(), same.since(), same.inTime())
                            : new ExpiryNotice(line, terms.expiresAtMillis(), now, remaining > 0 && isSet(cache)));
            line.tell(listener -> listener.expiring(cache.id(), Math.max(0, remaining)));
        }
    }
}
