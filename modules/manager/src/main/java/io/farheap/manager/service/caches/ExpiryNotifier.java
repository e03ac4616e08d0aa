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
    /** By cache whose end was set after the time of day was moved: by how many ms it was ahead then. */
    private final Map<Long, Long> setAhead = new HashMap<>();
    /** How many notices were left when those of caches that are gone were forgotten. */
    private int left;

    public ExpiryNotifier(Caches caches, Clients clients, ClockJumps clock) {
        this.clock = clock;
        this.caches = caches;
        this.clients = clients;
    }

    /**
     * Whether a cache may be ended: its time has ended, also if the time of day had not been moved ahead since it was
     * set, and its client was notified before that, or half a minute ago, or is gone.
     */
    boolean mayEnd(CacheRecord cache, long now, long millis) {
        long expires = cache.terms().expiresAtMillis();
        if (expires == 0) {
            return false;
        }
        long moved = clock.look() - setAhead.getOrDefault(cache.id(), 0L);
        if (expires > millis - Math.max(0, moved)) {
            return false;
        }
        ExpiryNotice heard = told.get(cache.id());
        if (heard == null || heard.expiresAtMillis() != expires) {
            return clients.abandoned(cache.id(), now);
        }
        return heard.inTime() || now - heard.since() >= BEFORE_MILLIS * NANOS_PER_MILLI;
    }

    /** The end of a cache's time was set: if that is near already, the next {@link #alert} notifies its client. */
    public void ends(CacheRecord cache, long millis) {
        long expires = cache.terms().expiresAtMillis();
        // A move since the last look counts as one after this: then the cache ends later, and not earlier.
        long ahead = clock.ahead();
        if (ahead == 0) {
            setAhead.remove(cache.id());
        } else {
            setAhead.put(cache.id(), ahead);
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
        if (told.size() > 2 * left + MOST) {
            told.keySet().removeIf(cache -> caches.find(cache) == null);
            left = told.size();
        }
        if (setAhead.size() > 2 * caches.all().size() + MOST) {
            setAhead.keySet().removeIf(cache -> caches.find(cache) == null);
        }
        for (long id : List.copyOf(soon)) {
            CacheRecord cache = caches.find(id);
            long remaining = cache == null ? 0 : cache.terms().expiresAtMillis() - millis;
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

    private void alert(CacheRecord cache, long now, long millis) {
        AllocationTerms terms = cache.terms();
        long remaining = terms.expiresAtMillis() - millis;
        Clients.ClientLine line = clients.line(cache.id());
        if (line == null || !caches.isWritten(cache.id())) {
            return;
        }
        ExpiryNotice before = told.get(cache.id());
        ExpiryNotice same = before != null && before.expiresAtMillis() == terms.expiresAtMillis() ? before : null;
        if (same == null || same.line() != line) {
            told.put(
                    cache.id(),
                    same != null
                            ? new ExpiryNotice(line, same.expiresAtMillis(), same.since(), same.inTime())
                            : new ExpiryNotice(line, terms.expiresAtMillis(), now, remaining > 0));
            line.tell(listener -> listener.expiring(cache.id(), Math.max(0, remaining)));
        }
    }
}
