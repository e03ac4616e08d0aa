package io.farheap.resilience.table;

import io.farheap.resilience.contract.Health;

/**
 * What a session has counted. Only the session's thread writes. Other threads may read a value a moment late, but never
 * a torn one.
 */
public final class CodedSessionCounts {

    public long reads;
    public long writes;
    /** Reads and writes of pages, or of parts of them, that had to decode a split from the others. */
    public long decoded;
    /** Reads that asked the remaining slabs after the hedge delay. */
    public long hedged;
    /** Times that a read was repeated because a write was under way meanwhile. */
    public long retried;
    /** Writes that completed although a slab of theirs was void. */
    public long degraded;
    /** Reads and writes that found splits which disagreed. */
    public long disagreed;
    /** Slabs that this session made void. */
    public long voided;
    /** Splits that had not come when their request stopped waiting for them. */
    public long late;

    void add(CodedSessionCounts other) {
        reads += other.reads;
        writes += other.writes;
        decoded += other.decoded;
        hedged += other.hedged;
        retried += other.retried;
        degraded += other.degraded;
        disagreed += other.disagreed;
        voided += other.voided;
        late += other.late;
    }

    /** A copy of the values at this moment. */
    Health.Counts snapshot() {
        return new Health.Counts(reads, writes, decoded, hedged, retried, degraded, disagreed, voided, late);
    }
}
