package io.farheap.store;

/**
 * How much a store has of what, in bytes, at one moment.
 *
 * @param mutable of the log, updated in place
 * @param readOnly of the log, in memory and copied to be updated
 * @param onDevice of the log, on the device alone
 * @param space of the device, what was compacted and a checkpoint needs included
 * @param index of local memory
 */
public record StoreBytes(long mutable, long readOnly, long onDevice, long space, long index) {}
