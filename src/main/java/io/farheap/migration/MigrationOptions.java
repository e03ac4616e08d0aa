package io.farheap.migration;

/**
 * How regions move.
 *
 * @param pause what writes wait for
 * @param unpausedReads whether reads go on from the old copy; where not, they wait where writes do
 * @param chunkBytes what is copied at a time, a power of two; reads and writes switch to the new copy chunk by chunk
 *     where {@code pause} is {@link PauseScope#CHUNK}
 * @param windowBytes how far ahead of the copy writes are held then, at most: it is as little as keeps the copier busy
 */
public record MigrationOptions(PauseScope pause, boolean unpausedReads, int chunkBytes, long windowBytes) {

    private static final int MIN_CHUNK_BYTES = 512;
    private static final int MAX_CHUNK_BYTES = 1 << 30;
    private static final int DEFAULT_CHUNK_BYTES = 256 << 10;
    private static final long DEFAULT_WINDOW_BYTES = 8 << 20;

    public static final MigrationOptions DEFAULT =
            new MigrationOptions(PauseScope.CHUNK, true, DEFAULT_CHUNK_BYTES, DEFAULT_WINDOW_BYTES);

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

    public MigrationOptions pause(PauseScope pause) {
        return new MigrationOptions(pause, unpausedReads, chunkBytes, windowBytes);
    }

    public MigrationOptions unpausedReads(boolean unpaused) {
        return new MigrationOptions(pause, unpaused, chunkBytes, windowBytes);
    }

    public MigrationOptions chunkBytes(int bytes) {
        return new MigrationOptions(pause, unpausedReads, bytes, Math.max(bytes, windowBytes));
    }

    public MigrationOptions windowBytes(long bytes) {
        return new MigrationOptions(pause, unpausedReads, chunkBytes, bytes);
    }
}
