package io.farheap.bench.ycsb;

import org.HdrHistogram.Histogram;

/** What a client has done. Written by its thread. */
public final class ClientCounts {

    /** Operations that have ended. */
    public long ended;
    /** Of them, those that found no value, or another one, or failed. */
    public long wrong;
    /** Operations that waited for a device. */
    public long pending;
    /** Reads of a device. */
    public long deviceReads;
    /** Of no meaning, but that a compiler must not leave out what it comes from. */
    long touched;

    private final Histogram latency = new Histogram(3);

    /** One operation's, of those that are timed. */
    public void took(long nanos) {
        latency.recordValue(Math.max(0, nanos));
    }

    /** So many operations that took as long. */
    void took(long nanos, long operations) {
        latency.recordValueWithCount(nanos, operations);
    }

    /** An operation that has ended. */
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
