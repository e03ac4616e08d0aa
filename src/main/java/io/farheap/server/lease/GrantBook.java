package io.farheap.server.lease;

import io.farheap.control.CacheGrant;
import io.farheap.control.ControlException;
import io.farheap.control.ControlException.Code;
import io.farheap.control.ManagerKey;
import io.farheap.control.SignedGrant;
import io.farheap.memory.Plurals;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.function.IntSupplier;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The grants of caches on a server with a manager: those of the manager with the highest epoch that the server knows.
 * Grants of earlier epochs open no new lease; existing leases stay. Thread-safe.
 */
public final class GrantBook {

    private static final long NANOS_PER_MILLI = 1_000_000;
    /** Longer than an earlier grant may still be shown, whatever the clocks do. */
    private static final long ENDED_NANOS = 2 * CacheGrant.MOST_MILLIS * NANOS_PER_MILLI;

    private static final int ALL = CacheGrant.READ | CacheGrant.WRITE;

    /**
     * The grant of a cache; its monitor is held while regions are given to it, so that two leases do not both get the
     * last region.
     */
    private static final class Entry {
        volatile CacheGrant grant;
        /** When the last of all grants that were shown expires. */
        long untilMillis;

        Entry(CacheGrant grant) {
            this.grant = grant;
            this.untilMillis = grant.untilMillis();
        }

        void show(CacheGrant shown) {
            untilMillis = Math.max(untilMillis, shown.untilMillis());
            if (shown.isLaterThan(grant)) {
                grant = shown;
            }
        }
    }

    private final long serverId;
    private final LongSupplier nanos;
    /** Guarded by this, as are the fields that follow. */
    private final Map<Long, Entry> entries = new HashMap<>();

    /**
     * Caches whose grants are not accepted any more, and until when that has to be remembered, by this server's clock.
     */
    private final Map<Long, Long> ended = new HashMap<>();

    private @Nullable ManagerKey manager;
    /** When the manager sent its clock, by this server's clock. */
    private long heardAt;
    /** The latest time of that manager's clock that this server has assumed before; it does not go back behind it. */
    private long reachedMillis = Long.MIN_VALUE;

    /** @param nanos this server's clock */
    public GrantBook(long serverId, LongSupplier nanos) {
        this.serverId = serverId;
        this.nanos = nanos;
    }

    /** Stores the key of a manager that introduces itself; one of an earlier epoch changes nothing. */
    public synchronized void learn(ManagerKey key) {
        if (manager != null && key.epoch() < manager.epoch()) {
            return;
        }
        if (manager != null && key.epoch() == manager.epoch()) {
            if (!key.key().equals(manager.key())) {
                return;
            }
            // The message may be late, or the manager's clock behind this server's estimate: a grant that has expired
            // once stays expired.
            reachedMillis = managerMillis(manager);
        } else {
            reachedMillis = Long.MIN_VALUE;
        }
        manager = key;
        heardAt = nanos.getAsLong();
    }

    private long managerMillis(ManagerKey known) {
        return Math.max(reachedMillis, known.millis() + (nanos.getAsLong() - heardAt) / NANOS_PER_MILLI);
    }

    /**
     * A client shows a grant; the latest grant of its cache counts from now on.
     *
     * @param holders caches that have leases here
     * @throws ControlException GRANT_REFUSED
     */
    public synchronized void show(long cacheId, SignedGrant shown, Supplier<Set<Long>> holders) {
        ManagerKey known = manager;
        if (known == null) {
            throw refused("this server does not know its cache manager yet; ask again in a moment");
        }
        CacheGrant grant = read(shown);
        if (grant.epoch() < known.epoch()) {
            throw refused("the grant is of epoch " + grant.epoch() + ", which ended when epoch " + known.epoch()
                    + " began: ask the manager for another");
        }
        if (grant.epoch() > known.epoch()) {
            throw refused("the grant is of epoch " + grant.epoch() + ", and this server knows only epoch "
                    + known.epoch() + " so far; ask again in a moment");
        }
        if (!shown.isSignedBy(known.key())) {
            throw refused("no manager has signed this grant");
        }
        if (grant.serverId() != serverId) {
            throw refused("the grant is for another server, or for an earlier one at this address: ask the manager for "
                    + "another");
        }
        if (grant.cacheId() != cacheId) {
            throw refused("the grant is for another cache");
        }
        if (grant.rights() != ALL) {
            throw refused("the grant is not for reads and writes, and a lease here is for both");
        }
        long now = managerMillis(known);
        if (grant.untilMillis() <= now) {
            throw refused("the grant expired " + (now - grant.untilMillis()) + " ms ago: ask the manager for another");
        }
        requireNotEnded(cacheId);
        Entry entry = entries.get(cacheId);
        if (entry == null) {
            forget(now, holders.get());
            entries.put(cacheId, new Entry(grant));
        } else {
            entry.show(grant);
        }
    }

    /** Ends the grants of caches from now on. */
    public synchronized void end(Set<Long> caches) {
        long now = nanos.getAsLong();
        ended.values().removeIf(until -> until - now <= 0);
        for (long cacheId : caches) {
            ended.put(cacheId, now + ENDED_NANOS);
            entries.remove(cacheId);
        }
    }

    public synchronized Set<Long> ended() {
        return Set.copyOf(ended.keySet());
    }

    /** @throws ControlException GRANT_REFUSED */
    public synchronized void requireNotEnded(long cacheId) {
        if (ended.containsKey(cacheId)) {
            throw refused("the cache has ended: its lifetime had passed, and other caches needed its memory");
        }
    }

    private static CacheGrant read(SignedGrant shown) {
        if (shown.isNone()) {
            throw refused("this server has a cache manager, and serves that manager's caches alone: build the "
                    + "cache with manager(...), or use a server started without --manager, as maps and stores need");
        }
        try {
            return shown.grant();
        } catch (IllegalArgumentException e) {
            throw new ControlException(Code.GRANT_REFUSED, "the client sent no valid grant: " + e.getMessage(), e);
        }
    }

    /**
     * Removes entries that are not needed any more: the cache holds nothing, and no earlier grant can be shown again.
     */
    private void forget(long now, Set<Long> holders) {
        entries.entrySet().removeIf(entry -> entry.getValue().untilMillis <= now && !holders.contains(entry.getKey()));
    }

    /**
     * Gives a cache regions, if it was granted that many.
     *
     * @param held how many it has
     * @throws ControlException GRANT_REFUSED
     */
    public <T> T give(long cacheId, int regions, IntSupplier held, Supplier<T> action) {
        Entry entry;
        synchronized (this) {
            entry = entries.get(cacheId);
        }
        if (entry == null) {
            throw refused("no grant has been shown for the cache");
        }
        synchronized (entry) {
            int has = held.getAsInt();
            int granted = entry.grant.regions();
            if (regions > granted - has) {
                throw refused(Plurals.of(regions, "region") + " more for a cache that has " + has
                        + " here and was granted " + granted + ": ask the manager for more");
            }
            return action.get();
        }
    }

    /**
     * How many regions caches may still take by their latest grants that have not expired.
     *
     * @param held by cache with a lease here: how many regions it has
     */
    public synchronized int untaken(Map<Long, Integer> held) {
        ManagerKey known = manager;
        if (known == null) {
            return 0;
        }
        long now = managerMillis(known);
        long untaken = 0;
        for (Map.Entry<Long, Integer> each : held.entrySet()) {
            Entry entry = entries.get(each.getKey());
            if (entry != null && entry.untilMillis > now) {
                untaken += Math.max(0, entry.grant.regions() - each.getValue());
            }
        }
        return (int) Math.min(untaken, Integer.MAX_VALUE);
    }

    private static ControlException refused(String why) {
        return new ControlException(Code.GRANT_REFUSED, why);
    }
}
