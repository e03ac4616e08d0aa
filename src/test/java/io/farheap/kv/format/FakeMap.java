package io.farheap.kv.format;

import io.farheap.kv.eviction.EvictionSettings;

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
        return descriptor(regions, servers, regionBytes, 0);
    }

    /** Of a map of one region, whose blocks of 64 bytes are segments of their own. */
    public static MapDescriptor ofSmallBlocks(long regionBytes) {
        return descriptor(1, 1, regionBytes, regionBytes / 64);
    }

    private static MapDescriptor descriptor(int regions, int servers, long regionBytes, long mostBlocks) {
        return new MapDescriptor(
                1,
                0,
                Math.max(1, servers),
                regions,
                regionBytes,
                100,
                0,
                mostBlocks,
                new KeyHash(1, 2),
                EvictionSettings.ADAPTIVE.name());
    }
}
