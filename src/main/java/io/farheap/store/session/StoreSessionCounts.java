package io.farheap.store.session;

import io.farheap.store.contract.StoreCounts;

/** What a session has done, counted by its thread and read by any: a moment old. */
public final class StoreSessionCounts {

    /** Operations that were accepted. */
    public long reads;

    public long upserts;
    public long updates;
    public long deletes;
    /** Reads and updates whose record was on the device. */
    long onDevice;
    /** Reads of the device: more than one where a chain or a record is long. */
    public long deviceReads;

    /** All that others have counted, and this. */
    StoreCounts addedTo(StoreCounts all) {
        return new StoreCounts(
                all.reads() + reads,
                all.upserts() + upserts,
                all.updates() + updates,
                all.deletes() + deletes,
                all.onDevice() + onDevice,
                all.deviceReads() + deviceReads);
    }
}
