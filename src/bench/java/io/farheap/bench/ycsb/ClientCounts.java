package io.farheap.bench.ycsb;

import org.HdrHistogram.Histogram;

/** Counts of a client's operations. Written by its thread. */
public final class ClientCounts {

    /** Operations that have ended. */
    public long ended;
    /** Of these, operations that found no value, or a wrong one, or failed. */
    public long wrong;
    /** Operations that waited for a device. */
    public long pending;
    /** Reads of a device. */
    public long deviceReads;
    /** Without meaning: it keeps the compiler from removing the reads from which it is computed. */
    long touched;

    private final Histogram latency = new Histogram(3);

    /** Adds the latency of one timed operation. */
    public void took(long nanos) {
        latency.recordValue(Math.max(0, nanos));
    }

    /** Adds the same latency for several operations. */
    void took(long nanos, long operations) {
        latency.recordValueWithCount(nanos, operations);
    }

    /** Counts an operation that has ended. */
    public void end(boolean right) {
        ended++;
        if (!right) {
            wrong++;
        }
    }

    Histogram latency() {
        return latency;
    }

    void add(ClientCounts other) {
        ended += other.ended;
        wrong += other.wrong;
        pending += other.pending;
        deviceReads += other.deviceReads;
        latency.add(other.latency);
    }
}
