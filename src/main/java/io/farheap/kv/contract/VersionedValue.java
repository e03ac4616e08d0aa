package io.farheap.kv.contract;

/**
 * An object as it was read.
 *
 * @param version for a compare-and-set; no other object of the map has it
 */
// Handed to the caller, whose it is from then on.
@SuppressWarnings("ArrayRecordComponent")
public record VersionedValue(byte[] value, long version) {}
