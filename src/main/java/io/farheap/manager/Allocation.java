package io.farheap.manager;

import java.util.List;

/**
 * What a cache has.
 *
 * @param generation raised whenever the rest changes
 * @param capacity bytes
 * @param regionBytes of its servers
 * @param candidate the configuration with which the cache meets its objective on these servers; while it becomes
 *     another, the one that it will have
 * @param shares each of another server
 * @param reserved for regions that are to come, each of another server; perhaps of one that has a share already
 * @param left servers that the cache leaves as it becomes another; what it has there goes where it is reserved
 */
public record Allocation(
        long cacheId,
        long generation,
        long capacity,
        long regionBytes,
        AllocationCandidate candidate,
        List<RegionShare> shares,
        List<RegionShare> reserved,
        List<String> left) {

    /** It leaves none of its servers. */
    public Allocation(
            long cacheId,
            long generation,
            long capacity,
            long regionBytes,
            AllocationCandidate candidate,
            List<RegionShare> shares,
            List<RegionShare> reserved) {
        this(cacheId, generation, capacity, regionBytes, candidate, shares, reserved, List.of());
    }

    public Allocation {
        shares = List.copyOf(shares);
        reserved = List.copyOf(reserved);
        left = List.copyOf(left);
        if (regionBytes < 1 || capacity < 1) {
            throw new IllegalArgumentException(
                    "a cache of " + capacity + " bytes in regions of " + regionBytes + "; both are at least 1");
        }
        long regions = shares.stream().mapToLong(RegionShare::regions).sum();
        if (regions != (capacity - 1) / regionBytes + 1) {
            throw new IllegalArgumentException(
                    regions + " regions of " + regionBytes + " bytes for a cache of " + capacity);
        }
        requireDistinct(shares);
        requireDistinct(reserved);
    }

    private static void requireDistinct(List<RegionShare> shares) {
        if (shares.stream().map(RegionShare::address).distinct().count() != shares.size()) {
            throw new IllegalArgumentException("a server twice in " + shares);
        }
    }
}
