package io.farheap.bench.ycsb;

import io.farheap.tier.device.Device;

/** What a store's log goes to that local memory has no room for, with all that this needs. */
interface LogStorage extends AutoCloseable {

    Device device();

    /** How the device is reached, as reports say it. */
    String engine();

    /** Of so many bytes that are not local, the part that far memory has. */
    double farShare(long notLocalBytes);

    /** The log has so many bytes now, and turns begin. */
    default void filled(long logBytes) {}

    @Override
    void close();
}
