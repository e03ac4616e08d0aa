package io.farheap.server.contract;

/** Whether calls of procedures take turns at each access to memory, so that their cache misses overlap. */
public enum CallInterleaving {
    /** Never: a call runs until its slice is used up. */
    OFF,
    /** For each procedure the way that was faster recently. */
    MEASURED,
    /** Always. */
    ALWAYS
}
