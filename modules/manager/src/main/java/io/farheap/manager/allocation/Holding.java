package io.farheap.manager.allocation;

import java.util.Collections;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The regions and server threads of an existing cache.
 *
 * @param regions how many it has on each server, above 0
 * @param switches the greatest distance at which it meets its objective; regions that are farther were put there by the
 *     application
 * @param threads server threads for one region
 */
public record Holding(long regionBytes, SortedMap<Long, Integer> regions, int switches, double threads) {

    public Holding {
        regions = Collections.unmodifiableSortedMap(new TreeMap<>(regions));
    }
}
