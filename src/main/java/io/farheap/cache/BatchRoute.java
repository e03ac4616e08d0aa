package io.farheap.cache;

import io.farheap.region.RemoteRegion;

/** The way of a session's small requests to one region while nothing is in their way; as {@link Route} for direct ones. */
final class BatchRoute {

    static final BatchRoute UNKNOWN = new BatchRoute(null, null);

    /** The entry of the region table that it was learnt from. */
    final RemoteRegion region;
    final int regionId;
    final BatchLane lane;

    BatchRoute(RemoteRegion region, BatchLane lane) {
        this.region = region;
        this.regionId = region == null ? 0 : region.regionId();
        this.lane = lane;
    }
}
