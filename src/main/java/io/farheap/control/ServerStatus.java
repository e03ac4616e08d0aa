package io.farheap.control;

import java.util.List;
import java.util.Map;

/**
 * The state of a memory server and its leases, for observers.
 *
 * @param server its current description
 * @param withdrawnRegions neither free nor held: their memory has been given to the machine for now
 * @param leases the open ones
 * @param spaces number of shared spaces, which no single lease holds
 * @param headroom the memory that it keeps free for its machine
 * @param counters the counts of its services since it began, by name
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
     * @param leftNanos until it ends if it is not renewed
     * @param callNanos time of the server threads that its calls of services have used
     */
    public record LeaseStatus(
            String clientName, long cacheId, int regions, int connections, long leftNanos, long callNanos) {}

    /**
     * Headroom of a machine's memory.
     *
     * @param percent to be kept free; 0 for a server that keeps none, and then all other values are 0
     * @param machineBytes memory of the machine, or of the control group that has less
     * @param freeBytes free bytes of that memory
     * @param askedRegions regions that clients have been asked for and still hold
     * @param evictedRegions regions that clients have given back when asked, so far
     */
    public record HeadroomStatus(
            int percent, long machineBytes, long freeBytes, int askedRegions, long evictedRegions) {

        /** The status of a server that keeps no headroom. */
        public static final HeadroomStatus NONE = new HeadroomStatus(0, 0, 0, 0, 0);
    }
}
