package io.farheap.control;

import java.util.List;
import java.util.Map;

/**
 * What a memory server has and who has it, for people who look on.
 *
 * @param server as it introduces itself now
 * @param withdrawnRegions neither free nor held: their memory is the machine's for now
 * @param leases those that are open
 * @param spaces shared ones, each held by no lease alone
 * @param headroom what it keeps free for its machine
 * @param counters what its services have counted since it began, by name
 */
public record ServerStatus(
        ServerDescription server,
        int withdrawnRegions,
        List<LeaseStatus> leases,
        int spaces,
        HeadroomStatus headroom,
        Map<String, Long> counters) {

    /**
     * An open lease.
     *
     * @param clientName as its client gave it
     * @param cacheId of the manager's cache that it is for, or {@code ControlPlane.NO_CACHE}
     * @param regions that it holds
     * @param connections queue pairs and message rings
     * @param leftNanos until it ends where it is not renewed
     * @param callNanos of the server threads' time that its calls of services have used
     */
    public record LeaseStatus(
            String clientName, long cacheId, int regions, int connections, long leftNanos, long callNanos) {}

    /**
     * Headroom of a machine's memory.
     *
     * @param percent to be kept free; 0 for a server that does not look, and then all else is 0
     * @param machineBytes that the machine has, or the control group that has less
     * @param freeBytes of them
     * @param askedRegions that clients have been asked for and still hold
     * @param evictedRegions that clients have given back when asked, so far
     */
    public record HeadroomStatus(
            int percent, long machineBytes, long freeBytes, int askedRegions, long evictedRegions) {

        /** Of a server that keeps none. */
        public static final HeadroomStatus NONE = new HeadroomStatus(0, 0, 0, 0, 0);
    }
}
