package io.farheap.resilience.contract;

import java.util.List;

/**
 * The state of a space's slabs and servers, how many failures it survives now, and counts.
 *
 * @param slabs all of them, k + r for each range
 * @param goodSlabs those that are read
 * @param rebuildingSlabs those that are being regenerated
 * @param voidSlabs the rest: their server is gone, or they have missed a write
 * @param mayLose how many more servers, whichever they are, may be lost now; none in EC-only; negative if content is
 *     lost
 * @param mayBeCorrupt how many corrupt splits of a page are detected (detection) or corrected (correction) now; 0 in
 *     other modes
 * @param servers the state of each server, and the errors met there
 * @param counts of all sessions since the space was created
 * @param regenerated slabs that were regenerated
 * @param evicted slabs that moved because their servers wanted the memory back
 * @param regenerationBytesRead bytes read from good slabs to regenerate others
 * @param regenerationBytesRebuilt bytes of new slabs that were made
 * @param regenerationBytesByServers those of them that the new slabs' servers made; this process made the others
 * @param latestTrouble the keeper's latest trouble; empty if there was none
 */
public record Health(
        int slabs,
        int goodSlabs,
        int rebuildingSlabs,
        int voidSlabs,
        int mayLose,
        int mayBeCorrupt,
        List<Server> servers,
        Counts counts,
        long regenerated,
        long evicted,
        long regenerationBytesRead,
        long regenerationBytesRebuilt,
        long regenerationBytesByServers,
        String latestTrouble) {

    /**
     * The state of one server, and the errors that were met there.
     *
     * @param address HOST:PORT
     * @param domain its failure domain
     * @param slabs that it has and that are not void
     * @param lost whether its lease is lost
     * @param suspect whether it was above the errorCorrectionLimit in the latest window of half a second
     * @param asked splits that it was asked for
     * @param wrong splits that were found wrong, or that are in doubt
     * @param failed connections to it that failed, each with everything that was under way on it
     * @param late splits that had not come when a read's hedge, a write's timeout or a regeneration looked
     */
    public record Server(
            String address,
            String domain,
            int slabs,
            boolean lost,
            boolean suspect,
            long asked,
            long wrong,
            long failed,
            long late) {}

    /**
     * Counts of pages, or of parts of pages; a request may span many.
     *
     * @param reads that ended
     * @param writes that ended
     * @param decoded reads and writes that had to decode a split from the others
     * @param hedged reads that asked the remaining slabs after a delay
     * @param retried reads that were repeated because of a write
     * @param degraded writes that completed with a void slab among theirs
     * @param disagreed reads and writes that found splits which disagreed
     * @param voided slabs that writes made void
     * @param late splits that came after their request had stopped waiting for them
     */
    public record Counts(
            long reads,
            long writes,
            long decoded,
            long hedged,
            long retried,
            long degraded,
            long disagreed,
            long voided,
            long late) {}

    /** Whether all slabs are good. */
    public boolean whole() {
        return goodSlabs == slabs;
    }
}
