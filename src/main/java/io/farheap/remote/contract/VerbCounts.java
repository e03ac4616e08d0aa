package io.farheap.remote.contract;

/**
 * Counts of the operations that a queue has posted since it was opened: figures without measurement noise.
 *
 * @param reads READs
 * @param writes WRITEs
 * @param swaps compare-and-swaps
 * @param adds fetch-and-adds
 * @param bytesRead by READs
 * @param bytesWritten by WRITEs
 * @param doorbells native calls that posted: a list is one for each server
 */
public record VerbCounts(
        long reads, long writes, long swaps, long adds, long bytesRead, long bytesWritten, long doorbells) {

    /** The difference to an earlier count. */
    public VerbCounts since(VerbCounts earlier) {
        return new VerbCounts(
                reads - earlier.reads,
                writes - earlier.writes,
                swaps - earlier.swaps,
                adds - earlier.adds,
                bytesRead - earlier.bytesRead,
                bytesWritten - earlier.bytesWritten,
                doorbells - earlier.doorbells);
    }

    public long operations() {
        return reads + writes + swaps + adds;
    }
}
