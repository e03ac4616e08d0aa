package io.farheap.kv.format;

import io.farheap.kv.eviction.EvictionSettings;

/** Descriptors of maps that do not exist. */
public final class FakeMap {

    private FakeMap() {}

    /**
     * The descriptor that a map's first server has.
     *
     * @param regions the number of this server's regions
     * @param servers the number of servers; 0 means one, too
     */
    public static MapDescriptor descriptor(int regions, int servers, long regionBytes) {
        return descriptor(regions, servers, regionBytes, 0);
    }

    /** The descriptor of a map of one region, each of whose blocks of 64 bytes is a segment of its own. */
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
                60_000,
                EvictionSettings.ADAPTIVE.name());
    }
}
