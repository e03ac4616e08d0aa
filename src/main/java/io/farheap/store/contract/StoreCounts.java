package io.farheap.store.contract;

/**
 * What sessions of a store have done since it was opened, those that are closed included: a moment old.
 *
 * @param reads that were accepted
 * @param upserts that were accepted
 * @param updates that were accepted
 * @param deletes that were accepted
 * @param onDevice of the reads and updates those whose record was not in memory
 * @param deviceReads reads of the device for these: more than one where a chain or a record is long
 */
public record StoreCounts(long reads, long upserts, long updates, long deletes, long onDevice, long deviceReads) {}
