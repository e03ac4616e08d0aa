package io.farheap.control.plane;

import io.farheap.control.RegionGrant;
import java.util.List;

/**
 * A shared space as one lease has it open.
 *
 * @param spaceId no other space that this server process has had, or will have, has the same; never 0
 * @param openingId names this lease's opening in {@link SpacePlane#close}
 * @param descriptor what the space's creator said of it; not to be changed
 * @param millisLeft until it ends, at least 1; or {@link SpacePlane#FOR_EVER}
 * @param regions all of it, in the order that every lease sees. Of regions that lie side by side the remote keys may be
 *     the same
 */
@SuppressWarnings("ArrayRecordComponent")
public record SpaceGrant(long spaceId, long openingId, byte[] descriptor, long millisLeft, List<RegionGrant> regions) {}
