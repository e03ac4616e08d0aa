package io.farheap.store.contract;

/**
 * How many operations the sessions of a store, open and closed, have done since it was opened. The counts may be a
 * moment old.
 *
 * @param reads that were accepted
 * @param upserts that were accepted
 * @param updates that were accepted
 * @param deletes that were accepted
 * @param onDevice reads and updates whose record was not in memory
 * @param deviceReads reads of the device for these: more than one for an operation if its chain or record is long
 */
public record StoreCounts(long reads, long upserts, long updates, long deletes, long onDevice, long deviceReads) {}
