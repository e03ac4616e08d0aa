package io.farheap.control.plane;

import java.util.List;

/**
 * A server's answer to a report of use.
 *
 * @param regions that the server asks the client to give back soon, of those that it reported; the client may decline
 * @param againNanos when to report again; 0 for never, because the server keeps no headroom
 */
public record WantedRegions(List<Integer> regions, long againNanos) {

    /** The answer of a server that never asks for regions. */
    public static final WantedRegions NEVER = new WantedRegions(List.of(), 0);
}
