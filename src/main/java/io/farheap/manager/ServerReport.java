package io.farheap.manager;

import java.util.Map;
import java.util.Set;

/**
 * What a memory server has. What it says that it holds is the truth.
 *
 * @param serverId random, of the process: a server that starts anew is another
 * @param address HOST:PORT of its control plane, where clients reach it
 * @param type of the machine, as in the manager's menu
 * @param spot whether it may be told to leave at any time, and so costs less
 * @param place data center, cluster and rack, with slashes between them
 * @param domain its failure domain: servers of one domain may fail together; its address where it is one of its own
 * @param noticeMillis how long it stays after it was told to leave
 * @param leaving it takes no more caches
 * @param leavesWithinMillis how long it stays, where it is leaving
 * @param held the regions of each cache that has a lease there, by its id, perhaps 0
 * @param ended caches that it was told to end, once nothing that they had there is taken any more
 */
public record ServerReport(
        long serverId,
        String address,
        String type,
        boolean spot,
        String place,
        String domain,
        long regionBytes,
        int totalRegions,
        int freeRegions,
        long noticeMillis,
        boolean leaving,
        long leavesWithinMillis,
        Map<Long, Integer> held,
        Set<Long> ended) {

    public ServerReport {
        TextChecks.require("a server's address", address, CacheManager.MAX_TEXT_LENGTH);
        TextChecks.require("a server's type", type, CacheManager.MAX_TEXT_LENGTH);
        TextChecks.require("a server's place", place, CacheManager.MAX_TEXT_LENGTH);
        TextChecks.require("a server's failure domain", domain, CacheManager.MAX_TEXT_LENGTH);
        if (regionBytes < 1 || totalRegions < 1 || freeRegions < 0 || freeRegions > totalRegions) {
            throw new IllegalArgumentException("a server with " + freeRegions + " of " + totalRegions + " regions of "
                    + regionBytes + " bytes free");
        }
        if (regionBytes > Long.MAX_VALUE >> Integer.SIZE) {
            throw new IllegalArgumentException(
                    "regions of " + regionBytes + " bytes; they have at most " + (Long.MAX_VALUE >> Integer.SIZE));
        }
        if (held.values().stream().anyMatch(regions -> regions < 0)) {
            throw new IllegalArgumentException("a cache with less than 0 regions in " + held);
        }
        if (noticeMillis < 0 || leavesWithinMillis < 0) {
            throw new IllegalArgumentException("a notice of " + noticeMillis + " ms, of which " + leavesWithinMillis
                    + " are left; neither is less than 0");
        }
        held = Map.copyOf(held);
        ended = Set.copyOf(ended);
    }

    /** Of a server that is a failure domain of its own, and was told to end none. */
    public ServerReport(
            long serverId,
            String address,
            String type,
            boolean spot,
            String place,
            long regionBytes,
            int totalRegions,
            int freeRegions,
            long noticeMillis,
            boolean leaving,
            long leavesWithinMillis,
            Map<Long, Integer> held) {
        this(
                serverId,
                address,
                type,
                spot,
                place,
                address,
                regionBytes,
                totalRegions,
                freeRegions,
                noticeMillis,
                leaving,
                leavesWithinMillis,
                held,
                Set.of());
    }

    /** The same of one that leaves. */
    public ServerReport leavingWithin(long millis) {
        return new ServerReport(
                serverId,
                address,
                type,
                spot,
                place,
                domain,
                regionBytes,
                totalRegions,
                freeRegions,
                noticeMillis,
                true,
                millis,
                held,
                ended);
    }
}
