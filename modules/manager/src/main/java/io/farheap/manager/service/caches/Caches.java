package io.farheap.manager.service.caches;

import io.farheap.control.ControlException;
import io.farheap.control.ControlException.Code;
import io.farheap.manager.AllocationCandidate;
import io.farheap.manager.allocation.Need;
import io.farheap.manager.allocation.NetworkLocation;
import io.farheap.manager.service.journal.Journal;
import io.farheap.manager.service.servers.Servers;
import io.farheap.manager.state.AllocationTerms;
import io.farheap.manager.state.CacheRecord;
import io.farheap.manager.state.StateChange;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The caches that a manager knows, and what they take of its servers. Guarded by the manager's lock. */
public final class Caches {

    /** The least remaining time that is counted, so that a cache that has outlived its time still has a price. */
    private static final double LEAST_HOURS = 1 / 60.0;

    /** The reason that clients receive when a cache is ended after its time. */
    static final String WHY =
            "its lifetime had passed, and other caches needed its memory; extend a cache in time to keep it";

    private static final double MILLIS_AN_HOUR = 3_600_000;
    /**
     * A client and a server that were cut off together, and are still, may have leases for as long: after that it is
     * not remembered that the cache was ended there.
     */
    private static final long LATE_MILLIS = 30 * 86_400_000L;
    /** Of so many ended caches it is remembered that servers that were given up may have them. */
    private static final int MOST_LATE = 4_096;

    private final Servers servers;
    private final Journal journal;
    private final Tenants tenants;
    private final TreeMap<Long, CacheRecord> caches = new TreeMap<>(Long::compareUnsigned);
    /** The end of a cache's time. */
    private record CacheExpiry(long atMillis, long id) {
        static CacheExpiry of(CacheRecord cache) {
            return new CacheExpiry(cache.terms().expiresAtMillis(), cache.id());
        }
    }

    /** The values of {@link #caches} that have an end, those that end first before the others. */
    private final TreeMap<CacheExpiry, CacheRecord> timed =
            new TreeMap<>(Comparator.comparingLong(CacheExpiry::atMillis).thenComparingLong(CacheExpiry::id));
    /** Caches that were ended, until their servers have taken back their regions. */
    private final TreeMap<Long, CacheRecord> ended = new TreeMap<>();
    /** By server: those of {@link #ended} that have regions or reserved room there. */
    private final Map<Long, Set<Long>> endedOn = new HashMap<>();
    /**
     * Caches that were ended and freed, and of which servers that were given up may still have regions: if such a
     * server returns, they are ended there.
     */
    private final TreeMap<Long, CacheRecord> late = new TreeMap<>();
    /** By server: those of {@link #late} that it may have. */
    private final Map<Long, Set<Long>> lateOn = new HashMap<>();
    /** By region size: the server threads for a region, of each cache of {@link #caches}, and how many need so many. */
    private final Map<Long, TreeMap<Double, Integer>> threads = new HashMap<>();
    /** Caches of which the last change is not on disk yet, so that no client may be notified of it. */
    private final Set<Long> unwritten = new HashSet<>();

    public Caches(Servers servers, Journal journal, Tenants tenants) {
        this.servers = servers;
        this.journal = journal;
        this.tenants = tenants;
    }

    /** Replaces all caches by those on disk. */
    public void load(List<CacheRecord> stored) {
        caches.clear();
        timed.clear();
        threads.clear();
        ended.clear();
        endedOn.clear();
        late.clear();
        lateOn.clear();
        unwritten.clear();
        servers.forgetPromises();
        for (CacheRecord cache : stored) {
            if (!cache.ended()) {
                keep(cache);
            } else if (isLate(cache)) {
                keepLate(cache);
            } else {
                keepEnded(cache);
            }
            servers.promise(null, cache);
            if (!cache.ended()) {
                tenants.count(null, cache);
            }
        }
    }

    /** Whether an ended cache has servers, and all of them were given up and forgotten. */
    private boolean isLate(CacheRecord over) {
        return !over.regions().isEmpty() && servers.of(over).findAny().isEmpty();
    }

    private void keepEnded(CacheRecord over) {
        ended.put(over.id(), over);
        serversOf(over).forEach(server -> endedOn.computeIfAbsent(server, _ -> new TreeSet<>())
                .add(over.id()));
    }

    private void dropEnded(CacheRecord over) {
        ended.remove(over.id());
        serversOf(over)
                .forEach(server -> endedOn.computeIfPresent(
                        server, (_, here) -> here.remove(over.id()) && here.isEmpty() ? null : here));
    }

    private static Stream<Long> serversOf(CacheRecord cache) {
        return Stream.concat(cache.regions().keySet().stream(), cache.reserved().keySet().stream());
    }

    private void keepLate(CacheRecord over) {
        late.put(over.id(), over);
        over.regions().keySet().forEach(server -> lateOn.computeIfAbsent(server, _ -> new TreeSet<>())
                .add(over.id()));
    }

    private void dropLate(long id) {
        CacheRecord before = late.remove(id);
        if (before != null) {
            before.regions()
                    .keySet()
                    .forEach(server -> lateOn.computeIfPresent(
                            server, (_, caches) -> caches.remove(id) && caches.isEmpty() ? null : caches));
        }
    }

    /** @return the record that it replaces, or null */
    private @Nullable CacheRecord keep(CacheRecord cache) {
        CacheRecord before = caches.put(cache.id(), cache);
        if (before != null) {
            timed.remove(CacheExpiry.of(before));
            count(before, -1);
        }
        count(cache, 1);
        if (cache.terms().expiresAtMillis() != 0) {
            timed.put(CacheExpiry.of(cache), cache);
        }
        return before;
    }

    private void drop(long id) {
        CacheRecord before = caches.remove(id);
        if (before != null) {
            timed.remove(CacheExpiry.of(before));
            count(before, -1);
        }
    }

    private void count(CacheRecord cache, int more) {
        threads.computeIfAbsent(cache.regionBytes(), _ -> new TreeMap<>())
                .merge(cache.threadsOfRegion(), more, (one, other) -> one + other == 0 ? null : one + other);
    }

    /** Returns the server threads for a region of the cache with regions of this size that needs most of them. */
    public double mostThreads(long regionBytes) {
        TreeMap<Double, Integer> counts = threads.get(regionBytes);
        return counts == null || counts.isEmpty() ? 0 : counts.lastKey();
    }

    /** Returns a cache; null if there is none, or it has ended. */
    public @Nullable CacheRecord find(long id) {
        return caches.get(id);
    }

    /**
     * Returns a cache.
     *
     * @throws ControlException NOT_FOUND if there is none, or it has ended
     */
    public CacheRecord require(long id) {
        requireNotEnded(id);
        CacheRecord cache = caches.get(id);
        if (cache == null) {
            throw new ControlException(Code.NOT_FOUND, "there is no cache " + hex(id));
        }
        return cache;
    }

    /** @throws ControlException NOT_FOUND if the cache was ended */
    public void requireNotEnded(long id) {
        if (hasEnded(id)) {
            throw new ControlException(Code.NOT_FOUND, "cache " + hex(id) + " has ended: " + WHY);
        }
    }

    /** Whether a cache was ended, and that is not forgotten yet. */
    public boolean hasEnded(long id) {
        return ended.containsKey(id) || late.containsKey(id);
    }

    /** Returns all caches except those that were ended. */
    public Collection<CacheRecord> all() {
        return caches.values();
    }

    /**
     * Returns caches of {@link #all} whose time ends after that of another one, those that end first before the others.
     *
     * @param millis when that one's time ends
     * @param id of that one; of caches that end with it, those with greater ids are among the others
     * @param untilMillis the latest end
     * @param most how many at most
     */
    List<CacheRecord> endingAfter(long millis, long id, long untilMillis, int most) {
        return millis > untilMillis
                ? List.of()
                : timed
                        .subMap(new CacheExpiry(millis, id), false, new CacheExpiry(untilMillis, Long.MAX_VALUE), true)
                        .values()
                        .stream()
                        .limit(most)
                        .toList();
    }

    /** Returns the caches of {@link #all} with greater ids, as unsigned numbers, in the order of their ids. */
    public NavigableMap<Long, CacheRecord> after(long id) {
        return caches.tailMap(id, false);
    }

    /** Adds a cache that has not ended, or replaces its record. */
    public void put(CacheRecord cache) {
        journal.add(new StateChange.PutCache(cache));
        unwritten.add(cache.id());
        CacheRecord before = keep(cache);
        servers.promise(before, cache);
        tenants.count(before, cache);
    }

    /** Removes a cache that its client has given back, or whose client is gone. */
    public void remove(CacheRecord cache) {
        journal.add(new StateChange.RemoveCache(cache.id()));
        drop(cache.id());
        servers.promise(cache, null);
        tenants.count(cache, null);
    }

    /**
     * Ends a cache: its servers must take back its regions, which remain promised to it until they have.
     *
     * @param cache until now
     */
    void end(CacheRecord cache) {
        CacheRecord over = cache.end();
        journal.add(new StateChange.PutCache(over));
        unwritten.add(over.id());
        drop(over.id());
        keepEnded(over);
        tenants.count(cache, null);
    }

    /**
     * An ended cache's servers have taken back its regions, or are gone: nothing is promised to it any more.
     *
     * @param givenUp those of its servers that may return; until they have, it is not forgotten that it has ended
     */
    void freed(CacheRecord over, Set<Long> givenUp) {
        dropEnded(over);
        servers.promise(over, null);
        if (givenUp.isEmpty()) {
            journal.add(new StateChange.RemoveCache(over.id()));
            return;
        }
        putLate(over.endedOn(givenUp));
        if (late.size() > MOST_LATE) {
            late.values().stream()
                    .min(Comparator.comparingLong(one -> one.terms().expiresAtMillis()))
                    .ifPresent(oldest -> dropLateRecord(oldest.id()));
        }
    }

    /** Forgets the caches of which {@link #isLate(long)} is true that ended weeks ago. */
    void forgetLate(long millis) {
        List<Long> old = late.values().stream()
                .filter(over -> millis - over.terms().expiresAtMillis() > LATE_MILLIS)
                .map(CacheRecord::id)
                .toList();
        old.forEach(this::dropLateRecord);
    }

    private void putLate(CacheRecord over) {
        dropLate(over.id());
        keepLate(over);
        journal.add(new StateChange.PutCache(over));
        unwritten.add(over.id());
    }

    private void dropLateRecord(long id) {
        dropLate(id);
        unwritten.remove(id);
        journal.add(new StateChange.RemoveCache(id));
    }

    /** A server that was given up has returned, and has taken back an ended cache's regions. */
    void freedLate(long id, long serverId) {
        CacheRecord over = late.get(id);
        if (over != null && over.regions().containsKey(serverId)) {
            Set<Long> left = new TreeSet<>(over.regions().keySet());
            left.remove(serverId);
            if (left.isEmpty()) {
                dropLateRecord(id);
            } else {
                putLate(over.endedOn(left));
            }
        }
    }

    /** Whether a cache was ended, is freed, and may be on a server that was given up. */
    boolean isLate(long id) {
        return late.containsKey(id);
    }

    /** Whether there is any cache of which {@link #isLate(long)} is true. */
    boolean anyLate() {
        return !late.isEmpty();
    }

    /**
     * Returns the caches that were ended, late ones included, and that a server has or may have.
     *
     * @param held the caches of which it has reported regions
     */
    Set<Long> overOn(long serverId, Set<Long> held) {
        if (ended.isEmpty() && late.isEmpty()) {
            return Set.of();
        }
        Set<Long> over = new TreeSet<>(endedOn.getOrDefault(serverId, Set.of()));
        over.addAll(lateOn.getOrDefault(serverId, Set.of()));
        if (held.size() < ended.size() + late.size()) {
            held.stream().filter(this::hasEnded).forEach(over::add);
        } else {
            Stream.concat(ended.keySet().stream(), late.keySet().stream())
                    .filter(held::contains)
                    .forEach(over::add);
        }
        return over;
    }

    /** Returns the caches that were ended, until they are {@link #freed}. */
    public Collection<CacheRecord> ended() {
        return ended.values();
    }

    /** Called when a change is on disk. */
    @SuppressWarnings("ReferenceEquality")
    public void written(StateChange change) {
        if (change instanceof StateChange.PutCache put
                && latest(put.cache().id(), put.cache().ended()) == put.cache()) {
            unwritten.remove(put.cache().id());
        }
    }

    private @Nullable CacheRecord latest(long id, boolean over) {
        return !over ? caches.get(id) : ended.containsKey(id) ? ended.get(id) : late.get(id);
    }

    /** Whether a cache was ended, and its servers have not taken back its regions yet. */
    boolean isEnded(long id) {
        return ended.containsKey(id);
    }

    /** Whether the last change of a cache is on disk. */
    public boolean isWritten(long id) {
        return !unwritten.contains(id);
    }

    /** Returns how many regions there are on all servers together. */
    public static long regions(Map<Long, Integer> shares) {
        return shares.values().stream().mapToLong(Integer::longValue).sum();
    }

    /** Returns how many regions a capacity of at least 1 byte takes. */
    public static long regions(long capacity, long regionBytes) {
        return (capacity - 1) / regionBytes + 1;
    }

    /** Returns the need of further regions of a cache, or of regions that move, for the rest of its time. */
    public static Need need(CacheRecord cache, long millis) {
        AllocationTerms terms = cache.terms();
        return new Need(
                bytes(terms.threadRegions() == 0 ? cache.count() : terms.threadRegions(), cache.regionBytes()),
                hoursLeft(terms, millis),
                NetworkLocation.parse(terms.place()),
                List.of(new AllocationCandidate(terms.switches(), terms.serverThreads())),
                Set.of(),
                Set.of());
    }

    /** Returns the bytes of some regions, of one at least; at most {@link Long#MAX_VALUE}. */
    public static long bytes(long regions, long regionBytes) {
        return regions > Long.MAX_VALUE / regionBytes ? Long.MAX_VALUE : Math.max(1, regions) * regionBytes;
    }

    static double hoursLeft(AllocationTerms terms, long millis) {
        return terms.expiresAtMillis() == 0
                ? Double.POSITIVE_INFINITY
                : Math.max(LEAST_HOURS, (terms.expiresAtMillis() - millis) / MILLIS_AN_HOUR);
    }

    /** Returns a lifetime in hours; infinite for 0, which is a cache without an end. */
    public static double hours(long lifetimeMillis) {
        return lifetimeMillis == 0 ? Double.POSITIVE_INFINITY : lifetimeMillis / MILLIS_AN_HOUR;
    }

    /** Returns an id as 16 hexadecimal digits. */
    public static String hex(long id) {
        return "%016x".formatted(id);
    }
}
