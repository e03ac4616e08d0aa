package io.farheap.manager.allocation;

import io.farheap.manager.AllocationCandidate;
import java.util.Collections;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The servers of a cache, and how many regions each of them gives.
 *
 * @param candidate the configuration with which the cache meets its objective there
 * @param regionBytes the size of each region
 * @param cost for an hour, in the menu's money, expected moves and losses included
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
