package io.farheap.migration;

/** The range whose move writes wait for. */
public enum PauseScope {

    /** All writes to the cache wait until all regions have moved: what a migration without optimisations does. */
    CACHE,

    /** Writes to a region wait until it has moved (Redy's pause-on-migration writes). */
    REGION,

    /** Writes wait for the few chunks of their region that are being copied. */
    CHUNK
}
