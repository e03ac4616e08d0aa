package io.farheap.migration;

/**
 * How regions move.
 *
 * @param pause what writes wait for
 * @param unpausedReads whether reads continue on the old copy; if not, they wait as writes do
 * @param chunkBytes bytes that are copied at a time, a power of two from 512 to 2^30; reads and writes switch to the
 *     new copy chunk by chunk if {@code pause} is {@link PauseScope#CHUNK}
 * @param windowBytes how far ahead of the copy writes are held in that case, at most: the window is as small as keeps
 *     the copier busy. At least one chunk
 */
public record MigrationOptions(PauseScope pause, boolean unpausedReads, int chunkBytes, long windowBytes) {

    private static final int MIN_CHUNK_BYTES = 512;
    private static final int MAX_CHUNK_BYTES = 1 << 30;
    private static final int DEFAULT_CHUNK_BYTES = 256 << 10;
    private static final long DEFAULT_WINDOW_BYTES = 8 << 20;

    /** The options of a migration for which none were chosen: unpaused reads, chunks of 256 KiB, a window of 8 MiB. */
    public static final MigrationOptions DEFAULT =
            new MigrationOptions(PauseScope.CHUNK, true, DEFAULT_CHUNK_BYTES, DEFAULT_WINDOW_BYTES);

    /** @throws IllegalArgumentException naming the value that is wrong and its limits */
    public MigrationOptions {
        if (chunkBytes < MIN_CHUNK_BYTES || chunkBytes > MAX_CHUNK_BYTES || Integer.bitCount(chunkBytes) != 1) {
            throw new IllegalArgumentException("chunks of " + chunkBytes + " bytes; a chunk is a power of two from "
                    + MIN_CHUNK_BYTES + " to " + MAX_CHUNK_BYTES);
        }
        if (windowBytes < chunkBytes) {
            throw new IllegalArgumentException(
                    "a window of " + windowBytes + " bytes; it has at least one chunk of " + chunkBytes);
        }
    }

    /** A copy with another scope of pauses. */
    public MigrationOptions pause(PauseScope pause) {
        return new MigrationOptions(pause, unpausedReads, chunkBytes, windowBytes);
    }

    /** A copy in which reads continue on the old copy, or wait. */
    public MigrationOptions unpausedReads(boolean unpaused) {
        return new MigrationOptions(pause, unpaused, chunkBytes, windowBytes);
    }

    /** A copy with another size of chunks, and a window of at least one chunk. */
    public MigrationOptions chunkBytes(int bytes) {
        return new MigrationOptions(pause, unpausedReads, bytes, Math.max(bytes, windowBytes));
    }

    /** A copy with another size of the window. */
    public MigrationOptions windowBytes(long bytes) {
        return new MigrationOptions(pause, unpausedReads, chunkBytes, bytes);
    }
}
