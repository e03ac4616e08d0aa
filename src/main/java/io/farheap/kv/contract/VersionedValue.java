package io.farheap.kv.contract;

/**
 * A value that was read, with the version of its object.
 *
 * @param value belongs to the caller
 * @param version for a compare-and-set; no other object of the map has it
 */
// The array is handed to the caller and not used here afterwards.
@SuppressWarnings("ArrayRecordComponent")
public record VersionedValue(byte[] value, long version) {}
