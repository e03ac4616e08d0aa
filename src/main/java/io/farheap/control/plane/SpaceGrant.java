package io.farheap.control.plane;

import io.farheap.control.RegionGrant;
import java.util.List;

/**
 * A shared space that one lease has open.
 *
 * @param spaceId unique among all spaces of this server process, past and future; never 0
 * @param openingId identifies this lease's opening in {@link SpacePlane#close}
 * @param descriptor that the space's creator gave; not to be changed
 * @param millisLeft until it ends, at least 1; or {@link SpacePlane#FOR_EVER}
 * @param regions all its regions, in the order that every lease sees. Regions that are adjacent may have the same
 *     remote key
 */
@SuppressWarnings("ArrayRecordComponent")
public record SpaceGrant(long spaceId, long openingId, byte[] descriptor, long millisLeft, List<RegionGrant> regions) {}
