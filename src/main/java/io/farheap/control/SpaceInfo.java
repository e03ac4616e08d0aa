package io.farheap.control;

/**
 * A shared space as anybody may know of it.
 *
 * @param millisLeft until it ends, at least 1; or {@code SpacePlane.FOR_EVER}
 * @param leases how many have it open
 */
public record SpaceInfo(String name, int regions, long millisLeft, int leases) {}
