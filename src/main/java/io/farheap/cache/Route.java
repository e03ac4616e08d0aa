package io.farheap.cache;

import io.farheap.connection.Connection;
import io.farheap.region.RemoteRegion;
import io.farheap.verbs.OneOperation;

/** The way of a session's requests to one region while nothing is in their way; see {@link Routes}. */
final class Route {

    /** The entry of the region table that it was learnt from. */
    final RemoteRegion region;
    final long address;
    final int remoteKey;
    final Connection connection;
    final OneOperation operation;

    Route(RemoteRegion region, Connection connection) {
        this.region = region;
        this.address = region == null ? 0 : region.address();
        this.remoteKey = region == null ? 0 : region.remoteKey();
        this.connection = connection;
        this.operation = connection == null ? null : connection.now();
    }
}
