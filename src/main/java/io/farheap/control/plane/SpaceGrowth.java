package io.farheap.control.plane;

import io.farheap.control.RegionGrant;
import java.util.List;

/**
 * The regions by which a shared space has grown.
 *
 * @param first index of the first of them among the space's regions: another lease may have grown it just before
 */
public record SpaceGrowth(int first, List<RegionGrant> regions) {}
