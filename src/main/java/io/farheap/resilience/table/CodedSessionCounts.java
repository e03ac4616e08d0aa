package io.farheap.resilience.table;

import io.farheap.resilience.contract.Health;

/** What a session has counted. Its thread alone writes; others may read a moment late, and each value whole. */
public final class CodedSessionCounts {

    public long reads;
    public long writes;
    /** Pages, or parts of them, of which a split was made of others. */
    public long decoded;
    /** Reads that asked the rest after a delay. */
    public long hedged;
    /** Reads that a write made read again. */
    public long retried;
    /** Writes that were called back without all their splits. */
    public long degraded;
    /** Reads and writes that met splits that disagreed. */
    public long disagreed;
    /** Slabs that this session made void. */
    public long voided;
    /** Splits that came after their request went on. */
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

    /** As they are at this moment. */
    Health.Counts snapshot() {
        return new Health.Counts(reads, writes, decoded, hedged, retried, degraded, disagreed, voided, late);
    }
}
