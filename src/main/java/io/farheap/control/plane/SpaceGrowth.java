package io.farheap.control.plane;

import io.farheap.control.RegionGrant;
import java.util.List;

/**
 * What a shared space has grown by.
 *
 * @param first the place of the first of them among the space's regions: others may have grown it just before
 */
public record SpaceGrowth(int first, List<RegionGrant> regions) {}
