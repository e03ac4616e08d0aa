package io.farheap.bench.raw;

import io.farheap.verbs.SendRequests;

/** The operations that {@code bench raw} compares. */
public enum RawOperation {
    READ(SendRequests.READ),
    WRITE(SendRequests.WRITE),
    CAS(SendRequests.COMPARE_AND_SWAP),
    FAA(SendRequests.FETCH_AND_ADD);

    final int opcode;

    RawOperation(int opcode) {
        this.opcode = opcode;
    }

    public boolean atomic() {
        return this == CAS || this == FAA;
    }

    /** Returns its name on the command line. */
    public String text() {
        return name().toLowerCase(java.util.Locale.ROOT);
    }

    /** Returns the flags beside {@link SendRequests#SIGNALED}. */
    int flags(int bytes, int inlineBytes) {
        return this == WRITE && bytes <= inlineBytes ? SendRequests.INLINE : 0;
    }
}
