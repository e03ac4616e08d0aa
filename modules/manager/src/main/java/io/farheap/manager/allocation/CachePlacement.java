package io.farheap.manager.allocation;

import io.farheap.manager.AllocationCandidate;
import java.util.Collections;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Servers for a cache: how many regions each gives.
 *
 * @param candidate the configuration with which it meets its objective there
 * @param regionBytes of each region
 * @param cost for an hour, in the menu's money, moves and what may be lost included
 */
public record CachePlacement(
        AllocationCandidate candidate, long regionBytes, SortedMap<Long, Integer> regions, double cost) {

    public CachePlacement {
        regions = Collections.unmodifiableSortedMap(new TreeMap<>(regions));
    }

    long bytes() {
        return regionBytes
                * regions.values().stream().mapToLong(Integer::longValue).sum();
    }
}
