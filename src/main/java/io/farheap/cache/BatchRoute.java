package io.farheap.cache;

import io.farheap.migration.RegionEntry;
import io.farheap.remote.RemoteRegion;

/** The way of a session's small requests to one region while nothing is in their way; as {@link Route} for direct ones. */
final class BatchRoute {

    static final BatchRoute UNKNOWN = new BatchRoute(null, null, null);

    /** The entry of the region table that it was learnt from. */
    final RegionEntry entry;
    final int regionId;
    final BatchLane lane;

    /** @param copy that requests go to: all of the entry's region, or a part of it */
    BatchRoute(RegionEntry entry, RemoteRegion copy, BatchLane lane) {
        this.entry = entry;
        this.regionId = copy == null ? 0 : copy.regionId();
        this.lane = lane;
    }
}
