package io.farheap.control.plane;

/**
 * How much a client uses a region that it could give up.
 *
 * @param regionId on its server
 * @param accesses a second since its last report, 0 or more; an estimate is enough
 */
public record RegionUse(int regionId, long accesses) {}
