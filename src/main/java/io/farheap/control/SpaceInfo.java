package io.farheap.control;

/**
 * The public data of a shared space.
 *
 * @param millisLeft until it ends, at least 1; or {@code SpacePlane.FOR_EVER}
 * @param leases how many leases have it open
 */
public record SpaceInfo(String name, int regions, long millisLeft, int leases) {}
