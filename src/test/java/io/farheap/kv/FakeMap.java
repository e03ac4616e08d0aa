package io.farheap.kv;

/** Descriptors of maps that there are not. */
public final class FakeMap {

    private FakeMap() {}

    /**
     * Of a map's first server.
     *
     * @param regions of this server
     * @param servers 0 or 1: one alone
     */
    public static MapDescriptor descriptor(int regions, int servers, long regionBytes) {
        return new MapDescriptor(
                1,
                0,
                Math.max(1, servers),
                regions,
                regionBytes,
                100,
                0,
                0,
                new KeyHash(1, 2),
                CachePolicy.ADAPTIVE.name());
    }
}
