package io.farheap.control;

import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;

/**
 * The permission of a cache manager for a cache to hold regions on a memory server. It is valid only as a
 * {@link SignedGrant}.
 *
 * @param cacheId of the cache
 * @param serverId of one process of a server; no other process has that number
 * @param regions the most regions that all leases of the cache may hold there together; at least 1
 * @param rights {@link #READ} and {@link #WRITE}
 * @param untilMillis until when it may be shown, in milliseconds since 1970 by the manager's clock; leases that were
 *     opened with it continue
 * @param epoch of the manager that gave it
 * @param generation of the cache: of two grants of an epoch, the one of the later generation counts
 */
public record CacheGrant(
        long cacheId, long serverId, int regions, int rights, long untilMillis, long epoch, long generation) {

    /**
     * How long a grant may be shown after it was given, at most, in ms: a move that waits for other moves does not take
     * longer.
     */
    public static final long MOST_MILLIS = 300_000;

    /** The right to read. */
    public static final int READ = 1;
    /** The right to write. */
    public static final int WRITE = 2;

    /** Marks the signed bytes as a grant, so that no other signed data can be taken for one. */
    private static final long MARK = 0x6661726865617031L;

    static final int BYTES = 6 * Long.BYTES + 2 * Integer.BYTES;

    /** @throws IllegalArgumentException if a value is out of its range */
    public CacheGrant {
        if (regions < 1) {
            throw new IllegalArgumentException("a grant of " + regions + " regions; it is of 1 or more");
        }
        if ((rights & ~(READ | WRITE)) != 0) {
            throw new IllegalArgumentException("a grant with the rights " + Integer.toHexString(rights)
                    + ", of which this release knows " + (READ | WRITE) + "; run the same release everywhere");
        }
    }

    /** This grant with a manager's epoch, to be shown until a time. */
    public CacheGrant given(long byEpoch, long until) {
        return new CacheGrant(cacheId, serverId, regions, rights, until, byEpoch, generation);
    }

    /** Whether it is later than another one of the same cache. */
    public boolean isLaterThan(CacheGrant other) {
        return epoch == other.epoch ? generation > other.generation : epoch > other.epoch;
    }

    /** The bytes that are signed: {@value #BYTES} bytes, big endian. */
    public byte[] encode() {
        return ByteBuffer.allocate(BYTES)
                .putLong(MARK)
                .putLong(cacheId)
                .putLong(serverId)
                .putInt(regions)
                .putInt(rights)
                .putLong(untilMillis)
                .putLong(epoch)
                .putLong(generation)
                .array();
    }

    /**
     * Reads a grant.
     *
     * @throws IllegalArgumentException if the bytes are not a grant
     */
    static CacheGrant decode(byte[] bytes) {
        ByteBuffer in = ByteBuffer.wrap(bytes);
        try {
            if (in.getLong() != MARK) {
                throw new IllegalArgumentException("the mark of a grant is missing");
            }
            CacheGrant grant = new CacheGrant(
                    in.getLong(), in.getLong(), in.getInt(), in.getInt(), in.getLong(), in.getLong(), in.getLong());
            if (in.hasRemaining()) {
                throw new IllegalArgumentException(in.remaining() + " bytes too many");
            }
            return grant;
        } catch (BufferUnderflowException e) {
            throw new IllegalArgumentException(bytes.length + " bytes; a grant has " + BYTES, e);
        }
    }
}
