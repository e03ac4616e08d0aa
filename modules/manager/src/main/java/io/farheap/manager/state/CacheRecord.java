package io.farheap.manager.state;

import java.util.Collections;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * A cache, and where its regions are. Immutable: it copies its maps.
 *
 * @param id the manager's number for it, which no other cache ever had
 * @param name not blank; not unique by itself
 * @param capacity bytes, 0 or more
 * @param wanted the capacity to which it grows, in bytes; 0: it does not
 * @param regionBytes size of each of its regions, above 0
 * @param terms what it was allocated for
 * @param generation rises with each change of where its regions are; 0 or more
 * @param regions server id to how many regions of it are this cache's, each above 0
 * @param reserved server id to how many regions are reserved there, for a move or for growth, each above 0
 */
public record CacheRecord(
        long id,
        String name,
        long capacity,
        long wanted,
        long regionBytes,
        Terms terms,
        long generation,
        SortedMap<Long, Integer> regions,
        SortedMap<Long, Integer> reserved) {

    /** @throws IllegalArgumentException where a value is out of its range */
    public CacheRecord {
        Checks.notBlank("name", name);
        Checks.atLeast("capacity", capacity, 0);
        Checks.atLeast("wanted", wanted, 0);
        Checks.atLeast("regionBytes", regionBytes, 1);
        Checks.atLeast("generation", generation, 0);
        regions = counts("regions", regions);
        reserved = counts("reserved", reserved);
    }

    /** A generation later, with regions elsewhere. */
    public CacheRecord placed(long capacity, SortedMap<Long, Integer> regions) {
        return new CacheRecord(
                id, name, capacity, 0, regionBytes, terms, generation + 1, regions, Collections.emptySortedMap());
    }

    /** A generation later, with what is reserved, and why: to grow to {@code wanted} bytes, or where 0 to move. */
    public CacheRecord reserving(long wanted, SortedMap<Long, Integer> reserved) {
        return new CacheRecord(id, name, capacity, wanted, regionBytes, terms, generation + 1, regions, reserved);
    }

    /** With another end; its regions, and so its generation, stay. */
    public CacheRecord until(long millis) {
        return new CacheRecord(
                id, name, capacity, wanted, regionBytes, terms.until(millis), generation, regions, reserved);
    }

    private static SortedMap<Long, Integer> counts(String what, SortedMap<Long, Integer> counts) {
        SortedMap<Long, Integer> copy = new TreeMap<>();
        counts.forEach((server, count) -> {
            Checks.atLeast(what + " of server " + NodePaths.hex(server), count, 1);
            copy.put(server, count);
        });
        return Collections.unmodifiableSortedMap(copy);
    }
}
