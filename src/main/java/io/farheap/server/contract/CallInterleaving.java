package io.farheap.server.contract;

/** Whether calls of procedures take turns at each access to memory, so that their cache misses overlap. */
public enum CallInterleaving {
    /** They never do: a call runs until its slice is used up. */
    OFF,
    /** Procedure by procedure, whatever has been faster lately. */
    MEASURED,
    /** They always do. */
    ALWAYS
}
