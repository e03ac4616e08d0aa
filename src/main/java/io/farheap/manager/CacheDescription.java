package io.farheap.manager;

import java.util.List;

/**
 * A cache, as the manager knows it.
 *
 * @param leftMillis what is left of its lifetime; 0 for ever
 * @param tenant its owner, as {@link Tenant#name(String)} returns it
 * @param lateMoves the servers that leave, and from which not all of its regions can move before these end
 */
public record CacheDescription(
        Allocation allocation, String name, long leftMillis, String tenant, List<LateMove> lateMoves) {

    /**
     * Regions of a cache on a server that leaves, of which some cannot leave it before it ends, as the manager expects.
     *
     * @param server HOST:PORT
     * @param regions how many the cache has there
     * @param lost how many of them cannot leave; at least 1
     * @param leftMillis the time until the server ends
     * @param room whether there is room for them elsewhere; if there is, there is too little time
     */
    public record LateMove(String server, int regions, int lost, long leftMillis, boolean room) {

        public LateMove {
            TextChecks.require("a server's address", server, CacheManager.MAX_TEXT_LENGTH);
            if (lost < 1 || lost > regions || leftMillis < 0) {
                throw new IllegalArgumentException(lost + " of " + regions + " regions cannot leave a server within "
                        + leftMillis + " ms; at least 1 and at most all cannot, within at least 0 ms");
            }
        }
    }

    public CacheDescription {
        tenant = Tenant.name(tenant);
        lateMoves = List.copyOf(lateMoves);
    }
}
