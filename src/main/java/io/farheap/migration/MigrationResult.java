package io.farheap.migration;

/**
 * What moving regions took.
 *
 * @param regions how many moved
 * @param bytes copied
 * @param copyNanos from the first hold of writes until all was in the new copy
 * @param totalNanos with what was prepared before and freed afterwards
 * @param longestPauseNanos the longest time that writes to one place were held
 */
public record MigrationResult(int regions, long bytes, long copyNanos, long totalNanos, long longestPauseNanos) {

    public static final MigrationResult NONE = new MigrationResult(0, 0, 0, 0, 0);

    /** One migration after another. */
    public MigrationResult plus(MigrationResult next) {
        return new MigrationResult(
                regions + next.regions,
                bytes + next.bytes,
                copyNanos + next.copyNanos,
                totalNanos + next.totalNanos,
                Math.max(longestPauseNanos, next.longestPauseNanos));
    }

    /** The same, with writes to all of it held at least that long. */
    public MigrationResult paused(long nanos) {
        return new MigrationResult(regions, bytes, copyNanos, totalNanos, Math.max(longestPauseNanos, nanos));
    }
}
