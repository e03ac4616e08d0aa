package io.farheap.cache.route;

import io.farheap.connection.Connection;
import io.farheap.migration.region.RegionEntry;
import io.farheap.remote.contract.RemoteRegion;
import io.farheap.verbs.OneOperation;
import org.jspecify.annotations.Nullable;

/** The path of a session's requests to a copy of a region, while nothing is in their way; see {@link Routes}. */
public final class Route {

    /** The route of no region: its entry equals none of the table's. */
    static final Route UNKNOWN = new Route(null, null, null, null);

    /** The entry of the region table that it was made from. */
    public final @Nullable RegionEntry entry;

    final @Nullable RemoteRegion copy;
    /** Fields of the copy, kept here to save a load. */
    public final long address;

    public final int remoteKey;
    public final int regionId;
    /** Null if it has failed, or there is none. */
    public final @Nullable Connection connection;
    /**
     * Executes one operation at once on that connection; null if there is no connection, or it has no such operation.
     */
    public final @Nullable OneOperation operation;
    /** The batches to that server; null if there are none. */
    public final @Nullable BatchLane lane;

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
