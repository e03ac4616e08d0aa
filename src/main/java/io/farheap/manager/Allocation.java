package io.farheap.manager;

import java.util.List;

/**
 * The servers and the configuration of a cache.
 *
 * @param generation increased whenever another field changes
 * @param capacity bytes
 * @param regionBytes region size of its servers
 * @param candidate the configuration with which the cache meets its objective on these servers; during a reallocation
 *     the configuration that it will have
 * @param shares its regions, one share for each server
 * @param reserved room for regions that are to come, one share for each server; the cache may have regions there
 *     already
 * @param left servers that the cache leaves in a reallocation; its regions there move to the reserved room
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

    /** An allocation in which the cache leaves no server. */
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
