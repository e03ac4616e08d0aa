package io.farheap.migration;

/**
 * The cost of moving regions.
 *
 * @param regions how many moved
 * @param bytes copied
 * @param copyNanos from the first hold of writes until the new copy was complete
 * @param totalNanos with the preparation before and the freeing afterwards
 * @param longestPauseNanos the longest time that writes to one place were held
 */
public record MigrationResult(int regions, long bytes, long copyNanos, long totalNanos, long longestPauseNanos) {

    /** The result if nothing moved. */
    public static final MigrationResult NONE = new MigrationResult(0, 0, 0, 0, 0);

    /** The sum of this migration and one that follows it. */
    public MigrationResult plus(MigrationResult next) {
        return new MigrationResult(
                regions + next.regions,
                bytes + next.bytes,
                copyNanos + next.copyNanos,
                totalNanos + next.totalNanos,
                Math.max(longestPauseNanos, next.longestPauseNanos));
    }

    /** The same result, with writes to all regions held for at least that time. */
    public MigrationResult paused(long nanos) {
        return new MigrationResult(regions, bytes, copyNanos, totalNanos, Math.max(longestPauseNanos, nanos));
    }
}
