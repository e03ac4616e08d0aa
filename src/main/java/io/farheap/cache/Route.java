package io.farheap.cache;

import io.farheap.connection.Connection;
import io.farheap.migration.RegionEntry;
import io.farheap.remote.RemoteRegion;
import io.farheap.verbs.OneOperation;
import org.jspecify.annotations.Nullable;

/** The path of a session's requests to a copy of a region, while nothing is in their way; see {@link Routes}. */
final class Route {

    /** Of no region. */
    static final Route UNKNOWN = new Route(null, null, null, null);

    /** The entry of the region table that it was learnt from. */
    final @Nullable RegionEntry entry;

    final @Nullable RemoteRegion copy;
    /** Of the copy, a step nearer. */
    final long address;

    final int remoteKey;
    final int regionId;
    /** Null where it has failed, or there is none. */
    final @Nullable Connection connection;
    /** On that connection; null where there is none. */
    final @Nullable OneOperation operation;
    /** The batches to that server; null where there are none. */
    final @Nullable BatchLane lane;

    Route(
            @Nullable RegionEntry entry,
            @Nullable RemoteRegion copy,
            @Nullable Connection connection,
            @Nullable BatchLane lane) {
        this.entry = entry;
        this.copy = copy;
        this.address = copy == null ? 0 : copy.address();
        this.remoteKey = copy == null ? 0 : copy.remoteKey();
        this.regionId = copy == null ? 0 : copy.regionId();
        this.connection = connection;
        this.operation = connection == null ? null : connection.now();
        this.lane = lane;
    }
}
