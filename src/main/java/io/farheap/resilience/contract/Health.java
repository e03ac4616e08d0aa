package io.farheap.resilience.contract;

import java.util.List;

/**
 * What is left of a space's promises, and what its sessions have met.
 *
 * @param slabs all of them, k + r for each range
 * @param goodSlabs those that are read
 * @param rebuildingSlabs those that are being regenerated
 * @param voidSlabs those that are neither: their server is gone, or they have missed a write
 * @param mayLose how many more servers may be lost now, whichever they are, none in EC-only; negative where something
 *     is lost
 * @param mayBeCorrupt how many corrupt splits of a page are shown (detection) or mended (correction) now; 0 in other
 *     modes
 * @param servers what was met at each
 * @param counts of all sessions there were
 * @param regenerated slabs
 * @param evicted slabs that were given up since their servers wanted the memory back
 * @param regenerationBytesRead from good slabs
 * @param regenerationBytesRebuilt of new ones
 * @param regenerationBytesByServers those of them that the new slabs' servers have made; this process the others
 * @param latestTrouble of the keeper, empty where it had none
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
     * One server.
     *
     * @param address HOST:PORT
     * @param domain its failure domain
     * @param slabs that it has and that are not void
     * @param lost whether its lease is lost
     * @param suspect whether it was above the errorCorrectionLimit in the latest window of half a second
     * @param asked splits
     * @param wrong splits that were found wrong, or may be
     * @param failed connections to it that failed, each with all that was under way there
     * @param late splits that were not there when a read's hedge, a write's timeout or a regeneration looked
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
     * Of pages, or parts of them; a request may be many.
     *
     * @param reads that ended
     * @param writes that ended
     * @param decoded of which a split was made of others
     * @param hedged reads that asked the rest after a delay
     * @param retried reads that a write made read again
     * @param degraded writes that were called back with a void slab among theirs
     * @param disagreed that met splits that disagreed
     * @param voided slabs that writes made void
     * @param late splits that came after their request went on
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
