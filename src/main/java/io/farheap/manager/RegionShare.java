package io.farheap.manager;

import io.farheap.control.SignedGrant;
import org.jspecify.annotations.Nullable;

/**
 * Regions of a cache on one server.
 *
 * @param address HOST:PORT of its control plane
 * @param regions at least 1
 * @param grant of the manager for the cache there; {@link SignedGrant#NONE} if there is none
 */
public record RegionShare(String address, int regions, SignedGrant grant) {

    /** A share without a grant, as a client reports it to its manager. */
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

    /** Whether both are of the same server and number of regions; the grant is not compared. */
    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof RegionShare share && address.equals(share.address) && regions == share.regions;
    }

    @Override
    public int hashCode() {
        return 31 * address.hashCode() + regions;
    }
}
