package io.farheap.manager;

import java.util.Map;
import java.util.Set;

/**
 * A memory server's report to its manager. For the regions that a server holds, its report is authoritative.
 *
 * @param serverId random, drawn by the process: a restarted server has another one
 * @param address HOST:PORT of its control plane, at which clients reach it
 * @param type of the machine, as in the manager's menu
 * @param spot whether the machine may be reclaimed at any time, and so costs less
 * @param place data center, cluster and rack, separated by slashes
 * @param domain its failure domain: servers of one domain may fail together; its address if it is a domain of its own
 * @param noticeMillis how long it stays after it was told to leave
 * @param leaving whether it is leaving, and so takes no more caches
 * @param leavesWithinMillis how long it stays, if it is leaving
 * @param held how many regions each cache that has a lease there holds, by its id; may be 0
 * @param ended caches that the manager has ended and that hold nothing there any more
 * @param wantedRegions how many regions its machine wants back beside the withdrawn ones; free ones serve for that
 *     first. While it is more than 0, the server gets nothing new
 * @param withdrawnRegions how many regions its machine has for now: they are neither held nor free
 * @param unplacedRegions of the wanted regions: how many have to leave and find no room elsewhere; 0 in a server's own
 *     report, since only the manager knows
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
        Set<Long> ended,
        int wantedRegions,
        int withdrawnRegions,
        int unplacedRegions) {

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
        if (wantedRegions < 0 || withdrawnRegions < 0 || withdrawnRegions > totalRegions || unplacedRegions < 0) {
            throw new IllegalArgumentException("a server of " + totalRegions + " regions that wants " + wantedRegions
                    + " back and has withdrawn " + withdrawnRegions + ", with " + unplacedRegions
                    + " that find no room; none is less than 0, and no more are withdrawn than there are");
        }
        held = Map.copyOf(held);
        ended = Set.copyOf(ended);
    }

    /** The report of a server of which the machine wants nothing back. */
    public ServerReport(
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
        this(
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
                leaving,
                leavesWithinMillis,
                held,
                ended,
                0,
                0,
                0);
    }

    /** The report of a server that is a failure domain of its own and has ended no caches. */
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

    /** The same report for a server that leaves. */
    public ServerReport leavingWithin(long millis) {
        return with(true, millis, wantedRegions, withdrawnRegions, unplacedRegions);
    }

    /** The same report for a server of which the machine wants regions back, and has some. */
    public ServerReport wanting(int wanted, int withdrawn) {
        return with(leaving, leavesWithinMillis, wanted, withdrawn, unplacedRegions);
    }

    /** The same report, with how many of the wanted regions find no room elsewhere. */
    public ServerReport unplaced(int regions) {
        return with(leaving, leavesWithinMillis, wantedRegions, withdrawnRegions, regions);
    }

    private ServerReport with(boolean leaves, long leavesWithin, int wanted, int withdrawn, int unplaced) {
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
                leaves,
                leavesWithin,
                held,
                ended,
                wanted,
                withdrawn,
                unplaced);
    }
}
