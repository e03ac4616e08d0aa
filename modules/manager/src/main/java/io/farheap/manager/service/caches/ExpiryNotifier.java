package io.farheap.manager.service.caches;

import io.farheap.manager.state.AllocationTerms;
import io.farheap.manager.state.CacheRecord;
import java.util.HashMap;
import java.util.Map;

/** Notifies clients of caches whose time ends soon. Guarded by the manager's lock. */
public final class ExpiryNotifier {

    /** How long before the end the client is notified. */
    private static final long BEFORE_MILLIS = 30_000;

    private static final long NANOS_PER_MILLI = 1_000_000;

    private final Caches caches;
    private final Clients clients;
    /** By cache: the end that its client was notified of, and over which line. */
    private final Map<Long, ExpiryNotice> told = new HashMap<>();

    private record ExpiryNotice(Clients.ClientLine line, long expiresAtMillis, long since, boolean inTime) {}

    public ExpiryNotifier(Caches caches, Clients clients) {
        this.caches = caches;
        this.clients = clients;
    }

    /**
     * Whether a cache may be ended: its time has ended, and its client was notified before that, or half a minute ago,
     * or is gone.
     */
    boolean mayEnd(CacheRecord cache, long now, long millis) {
        long expires = cache.terms().expiresAtMillis();
        if (expires == 0 || expires > millis) {
            return false;
        }
        ExpiryNotice heard = told.get(cache.id());
        if (heard == null || heard.expiresAtMillis() != expires) {
            return clients.abandoned(cache.id(), now);
        }
        return heard.inTime() || now - heard.since() >= BEFORE_MILLIS * NANOS_PER_MILLI;
    }

    /** Notifies the clients of caches whose time has ended or ends soon, once over each line for each end. */
    public void alert(long now, long millis) {
        told.keySet().removeIf(cache -> caches.find(cache) == null);
        for (CacheRecord cache : caches.endingUntil(millis + BEFORE_MILLIS)) {
            AllocationTerms terms = cache.terms();
            long left = terms.expiresAtMillis() - millis;
            Clients.ClientLine line = clients.line(cache.id());
            if (line == null || !caches.isWritten(cache.id())) {
                continue;
            }
            ExpiryNotice before = told.get(cache.id());
            ExpiryNotice same = before != null && before.expiresAtMillis() == terms.expiresAtMillis() ? before : null;
            if (same == null || same.line() != line) {
                told.put(
                        cache.id(),
                        same != null
                                ? new ExpiryNotice(line, same.expiresAtMillis(), same.since(), same.inTime())
                                : new ExpiryNotice(line, terms.expiresAtMillis(), now, left > 0));
                line.tell(listener -> listener.expiring(cache.id(), Math.max(0, left)));
            }
        }
    }
}
