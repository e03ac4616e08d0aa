package io.farheap.manager;

import io.farheap.control.SignedGrant;
import org.jspecify.annotations.Nullable;

/**
 * Regions on one server.
 *
 * @param address HOST:PORT of its control plane
 * @param regions at least 1
 * @param grant what the manager allows the cache there, where it says so; else {@link SignedGrant#NONE}
 */
public record RegionShare(String address, int regions, SignedGrant grant) {

    /** Without a grant, as a client tells its manager what it has. */
    public RegionShare(String address, int regions) {
        this(address, regions, SignedGrant.NONE);
    }

    public RegionShare {
        TextChecks.require("a server's address", address, CacheManager.MAX_TEXT_LENGTH);
        if (regions < 1) {
            throw new IllegalArgumentException(Integer.toUnsignedString(regions) + " regions on " + address
                    + "; a share has 1 to " + Integer.MAX_VALUE);
        }
    }

    /** Whether they are for as many regions on one server; what they are granted by is no part of it. */
    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof RegionShare share && address.equals(share.address) && regions == share.regions;
    }

    @Override
    public int hashCode() {
        return 31 * address.hashCode() + regions;
    }
}
