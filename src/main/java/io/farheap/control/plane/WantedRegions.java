package io.farheap.control.plane;

import java.util.List;

/**
 * What a server answers to a report of use.
 *
 * @param regions to be given back soon: a request, which the client may leave unmet; of those that it reported
 * @param againNanos when it is to report again; 0: never, as the server keeps no headroom
 */
public record WantedRegions(List<Integer> regions, long againNanos) {

    /** Of a server that wants nothing, ever. */
    public static final WantedRegions NEVER = new WantedRegions(List.of(), 0);
}
