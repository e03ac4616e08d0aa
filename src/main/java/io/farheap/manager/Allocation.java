package io.farheap.manager;

import java.util.List;

/**
 * What a cache has.
 *
 * @param generation raised whenever the rest changes
 * @param capacity bytes
 * @param regionBytes of its servers
 * @param candidate the configuration with which the cache meets its objective on these servers
 * @param shares each of another server
 * @param reserved for regions that are to come, each of another server; perhaps of one that has a share already
 */
public record Allocation(
        long cacheId,
        long generation,
        long capacity,
        long regionBytes,
        Candidate candidate,
        List<Share> shares,
        List<Share> reserved) {

    public Allocation {
        shares = List.copyOf(shares);
        reserved = List.copyOf(reserved);
        if (regionBytes < 1 || capacity < 1) {
            throw new IllegalArgumentException(
                    "a cache of " + capacity + " bytes in regions of " + regionBytes + "; both are at least 1");
        }
        long regions = shares.stream().mapToLong(Share::regions).sum();
        if (regions != (capacity - 1) / regionBytes + 1) {
            throw new IllegalArgumentException(
                    regions + " regions of " + regionBytes + " bytes for a cache of " + capacity);
        }
        requireDistinct(shares);
        requireDistinct(reserved);
    }

    private static void requireDistinct(List<Share> shares) {
        if (shares.stream().map(Share::address).distinct().count() != shares.size()) {
            throw new IllegalArgumentException("a server twice in " + shares);
        }
    }
}
