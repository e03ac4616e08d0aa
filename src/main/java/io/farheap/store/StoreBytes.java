package io.farheap.store;

/**
 * How many bytes the parts of a store have, at one moment.
 *
 * @param mutable the part of the log that is updated in place
 * @param readOnly the part of the log that is in memory and is copied to be updated
 * @param onDevice the part of the log that is on the device alone
 * @param space of the device, including compacted parts that a checkpoint needs
 * @param index local memory of the index
 */
public record StoreBytes(long mutable, long readOnly, long onDevice, long space, long index) {}
