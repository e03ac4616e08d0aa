package io.farheap.store.session;

import io.farheap.store.contract.StoreCounts;

/** Counts of a session's operations. The session's thread counts; any thread may read them, a moment old. */
public final class StoreSessionCounts {

    /** Operations that were accepted. */
    public long reads;

    public long upserts;
    public long updates;
    public long deletes;
    /** Reads and updates whose record was on the device. */
    long onDevice;
    /** Reads of the device: more than one for an operation if its chain or record is long. */
    public long deviceReads;

    /** The sum of these counts and {@code all}. */
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
