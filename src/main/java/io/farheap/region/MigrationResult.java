package io.farheap.region;

/**
 * What moving regions took.
 *
 * @param regions      how many moved
 * @param bytes        copied
 * @param copyNanos    spent in copying
 * @param totalNanos   from the first hold of writes to the last release of an old region
 * @param longestPauseNanos the longest time that writes to one region were held
 */
public record MigrationResult(int regions, long bytes, long copyNanos, long totalNanos, long longestPauseNanos) {

    public static final MigrationResult NONE = new MigrationResult(0, 0, 0, 0, 0);

    /** One migration after another. */
    public MigrationResult plus(MigrationResult next) {
        return new MigrationResult(regions + next.regions, bytes + next.bytes, copyNanos + next.copyNanos,
            totalNanos + next.totalNanos, Math.max(longestPauseNanos, next.longestPauseNanos));
    }
}
