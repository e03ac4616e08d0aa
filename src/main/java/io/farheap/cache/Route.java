package io.farheap.cache;

import io.farheap.connection.Connection;
import io.farheap.migration.RegionEntry;
import io.farheap.verbs.OneOperation;

/** The way of a session's requests to one region while nothing is in their way; see {@link Routes}. */
final class Route {

    /** The entry of the region table that it was learnt from. */
    final RegionEntry entry;
    final long address;
    final int remoteKey;
    final Connection connection;
    final OneOperation operation;

    Route(RegionEntry entry, Connection connection) {
        this.entry = entry;
        this.address = entry == null ? 0 : entry.copy().address();
        this.remoteKey = entry == null ? 0 : entry.copy().remoteKey();
        this.connection = connection;
        this.operation = connection == null ? null : connection.now();
    }
}
