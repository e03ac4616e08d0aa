package io.farheap.manager.allocation;

import java.util.Collections;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * What a cache has.
 *
 * @param regions of each server, above 0
 * @param switches the farthest at which it meets its objective; what is farther was put there by its application
 * @param threads of its servers, for one region
 */
public record Holding(long regionBytes, SortedMap<Long, Integer> regions, int switches, double threads) {

    public Holding {
        regions = Collections.unmodifiableSortedMap(new TreeMap<>(regions));
    }
}
