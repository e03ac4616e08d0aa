package io.farheap.manager;

/**
 * Regions on one server.
 *
 * @param address HOST:PORT of its control plane
 * @param regions at least 1
 */
public record Share(String address, int regions) {

    public Share {
        Texts.require("a server's address", address, CacheManager.MAX_TEXT_LENGTH);
        if (regions < 1) {
            throw new IllegalArgumentException(Integer.toUnsignedString(regions) + " regions on " + address
                    + "; a share has 1 to " + Integer.MAX_VALUE);
        }
    }
}
