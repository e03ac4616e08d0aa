package io.farheap.manager.state;

import java.util.Collections;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * A cache, and where its regions are. Immutable: it copies its maps.
 *
 * @param id the manager's number for it, which no other cache ever had
 * @param name not blank; not unique by itself
 * @param capacity bytes, 0 or more
 * @param wanted the capacity to which its client is about to change it, in bytes; 0: none
 * @param regionBytes size of each of its regions, above 0
 * @param terms on which it was allocated
 * @param generation rises with each change of the places of its regions; 0 or more
 * @param regions by server id: how many of its regions are on that server, each above 0
 * @param reserved by server id: how many regions are reserved there, for a move or for growth, each above 0
 * @param plan the terms that it will have with that capacity; null: no change of terms is planned
 * @param ended whether its servers must take back its regions; an ended cache changes in no other way
 */
public record CacheRecord(
        long id,
        String name,
        long capacity,
        long wanted,
        long regionBytes,
        AllocationTerms terms,
        long generation,
        SortedMap<Long, Integer> regions,
        SortedMap<Long, Integer> reserved,
        @Nullable CachePlan plan,
        boolean ended) {

    /** @throws IllegalArgumentException if a value is out of its range */
    public CacheRecord {
        RecordChecks.notBlank("name", name);
        RecordChecks.atLeast("capacity", capacity, 0);
        RecordChecks.atLeast("wanted", wanted, 0);
        RecordChecks.atLeast("regionBytes", regionBytes, 1);
        RecordChecks.atLeast("generation", generation, 0);
        regions = counts("regions", regions);
        reserved = counts("reserved", reserved);
    }

    /** A cache that has not ended. */
    public CacheRecord(
            long id,
            String name,
            long capacity,
            long wanted,
            long regionBytes,
            AllocationTerms terms,
            long generation,
            SortedMap<Long, Integer> regions,
            SortedMap<Long, Integer> reserved,
            @Nullable CachePlan plan) {
        this(id, name, capacity, wanted, regionBytes, terms, generation, regions, reserved, plan, false);
    }

    /** A cache without a plan. */
    public CacheRecord(
            long id,
            String name,
            long capacity,
            long wanted,
            long regionBytes,
            AllocationTerms terms,
            long generation,
            SortedMap<Long, Integer> regions,
            SortedMap<Long, Integer> reserved) {
        this(id, name, capacity, wanted, regionBytes, terms, generation, regions, reserved, null);
    }

    /** Returns the next generation, with this capacity and these regions, and without reserved room or a plan. */
    public CacheRecord placed(long capacity, SortedMap<Long, Integer> regions) {
        return placed(capacity, regions, Collections.emptySortedMap());
    }

    /** As {@link #placed(long, SortedMap)}, but this room stays reserved. */
    public CacheRecord placed(long capacity, SortedMap<Long, Integer> regions, SortedMap<Long, Integer> reserved) {
        return placed(capacity, regions, reserved, terms);
    }

    /** As {@link #placed(long, SortedMap)}, with the terms of its plan. */
    public CacheRecord become(long capacity, SortedMap<Long, Integer> regions) {
        return placed(capacity, regions, Collections.emptySortedMap(), plan == null ? terms : terms.of(plan));
    }

    private CacheRecord placed(
            long capacity, SortedMap<Long, Integer> regions, SortedMap<Long, Integer> reserved, AllocationTerms terms) {
        return new CacheRecord(id, name, capacity, 0, regionBytes, terms, generation + 1, regions, reserved);
    }

    /** Returns the next generation, with room reserved for a move, and without a plan. */
    public CacheRecord reserving(SortedMap<Long, Integer> reserved) {
        return new CacheRecord(id, name, capacity, 0, regionBytes, terms, generation + 1, regions, reserved);
    }

    /** Returns the next generation, with a plan and the room reserved for it. */
    public CacheRecord planning(long wanted, CachePlan plan, SortedMap<Long, Integer> reserved) {
        return new CacheRecord(id, name, capacity, wanted, regionBytes, terms, generation + 1, regions, reserved, plan);
    }

    /** Returns the next generation, which has ended in place. */
    public CacheRecord end() {
        return new CacheRecord(
                id, name, capacity, 0, regionBytes, terms, generation + 1, regions, reserved, null, true);
    }

    /** Returns an ended cache that has regions, or room for them, on these of its servers alone. */
    public CacheRecord endedOn(Set<Long> servers) {
        SortedMap<Long, Integer> left = new TreeMap<>(regions);
        reserved.forEach((server, count) -> left.merge(server, count, Integer::sum));
        left.keySet().retainAll(servers);
        return new CacheRecord(
                id, name, capacity, 0, regionBytes, terms, generation, left, Collections.emptySortedMap(), null, true);
    }

    /** Returns the cache with another end of its time; its regions, and so its generation, stay. */
    public CacheRecord until(long millis) {
        return new CacheRecord(
                id, name, capacity, wanted, regionBytes, terms.until(millis), generation, regions, reserved, plan);
    }

    /** Returns server threads for each of its regions; during a change, the greater number of before and after. */
    public double threadsOfRegion() {
        double now = ofRegion(terms.serverThreads(), terms.threadRegions());
        return plan == null ? now : Math.max(now, ofRegion(plan.serverThreads(), plan.threadRegions()));
    }

    private double ofRegion(int threads, long threadRegions) {
        long regions = threadRegions == 0 ? count() : threadRegions;
        return (double) threads / Math.max(1, regions);
    }

    /** Returns how many regions it has. */
    public long count() {
        return regions.values().stream().mapToLong(Integer::longValue).sum();
    }

    private static SortedMap<Long, Integer> counts(String what, SortedMap<Long, Integer> counts) {
        SortedMap<Long, Integer> copy = new TreeMap<>();
        counts.forEach((server, count) -> {
            RecordChecks.atLeast(what + " of server " + NodePaths.hex(server), count, 1);
            copy.put(server, count);
        });
        return Collections.unmodifiableSortedMap(copy);
    }
}
