package io.farheap.bench.ycsb;

import io.farheap.tier.device.Device;

/** The storage of the part of a store's log for which local memory has no room, with all resources of it. */
interface LogStorage extends AutoCloseable {

    Device device();

    /** Returns how the device is reached, as reports name it. */
    String engine();

    /** Returns the part, 0 to 1, that far memory has of the bytes that are not local. */
    double farShare(long notLocalBytes);

    /** Whether a part of it is far memory now. */
    default boolean onDevice() {
        return false;
    }

    /** Called with the log's length when all records are stored, before turns begin. */
    default void filled(long logBytes) {}

    @Override
    void close();
}
