package io.farheap.bench.ycsb;

import io.farheap.tier.device.Device;

/** The storage of the part of a store's log for which local memory has no room, with all resources of it. */
interface LogStorage extends AutoCloseable {

    Device device();

    /** Returns how the device is reached, as reports name it. */
    String engine();

    /** Returns the part of so many bytes that are not local which far memory has. */
    double farShare(long notLocalBytes);

    /** Called when the log has so many bytes, before turns begin. */
    default void filled(long logBytes) {}

    @Override
    void close();
}
