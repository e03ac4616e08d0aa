package io.farheap.migration;

/** What writes wait for while regions move. */
public enum PauseScope {

    /** All writes to the cache wait until all regions have moved: what a migration without optimisations does. */
    CACHE,

    /** Writes to a region wait until that has moved (Redy's pause-on-migration writes). */
    REGION,

    /** Writes wait for the few chunks of their region that are being copied. */
    CHUNK
}
