package io.farheap.kv.leased.format;

import io.farheap.memory.ByteSize;

/**
 * How a leased map is cut into shards, and how a shard lies in its part of a region. All shards of a map have one
 * shape. Region r of the map is region r / servers of server r % servers, and has the shards from r times
 * {@code perRegion} on.
 *
 * <pre>
 * a shard, in this order, each part at a multiple of 64 bytes
 *   64 bytes: u64 the last incarnation that it has given
 *   the table: u32 for each bucket, the first entry of its chain
 *   the entries: 64 bytes each; the first is none
 *   the heap of marked blocks: u32 for each entry
 *   the segments, of which blocks are cut
 * </pre>
 *
 * @param perRegion shards of a region, a power of two
 * @param shardBytes of a shard
 * @param buckets of its table, a power of two
 * @param entries that it has, without the one that is none
 */
public record ShardShape(int perRegion, long shardBytes, int buckets, int entries) {

    /** The most shards of a map: a version has the shard's number in 16 bits. */
    public static final int MOST_SHARDS = 1 << 16;

    public static final int SEGMENT_BYTES = 64 << 10;
    public static final int ENTRY_BYTES = 64;
    private static final long TABLE = 64;
    private static final long LINE = 64;
    private static final int LEAST_SEGMENTS = 2;

    /** A shard has at least so many bytes if its region has more than one. */
    private static final long SHARD_BYTES = 16L << 20;

    private static final int MOST_PER_REGION = 8;
    private static final int HASH_BITS = 24;
    /** So that a block's unit fits into an int. */
    private static final long MOST_SHARD_BYTES = (long) Integer.MAX_VALUE * LeasedBlock.UNIT_BYTES;

    /**
     * The shape of a map's shards.
     *
     * @param regions of the map
     * @param objects that the map is made for
     * @throws IllegalArgumentException if the table leaves no room for objects, or there are too many regions
     */
    public static ShardShape of(long regionBytes, int regions, long objects) {
        int perRegion = Math.clamp(Long.highestOneBit(Math.max(1, regionBytes / SHARD_BYTES)), 1, MOST_PER_REGION);
        if (regions > MOST_SHARDS / perRegion) {
            throw new IllegalArgumentException(
                    "a leased map of " + regions + " regions of " + ByteSize.text(regionBytes) + "; it has at most "
                            + MOST_SHARDS / perRegion + ": take less memory");
        }
        long shardBytes = Math.min(regionBytes / perRegion & -LINE, MOST_SHARD_BYTES);
        long share = Math.ceilDiv(objects, (long) regions * perRegion);
        long most = Math.max(0, shardBytes - (long) LEAST_SEGMENTS * SEGMENT_BYTES - TABLE - 3 * LINE)
                / (ENTRY_BYTES + 3 * Integer.BYTES);
        // A shard gets more keys than its share now and then. A share above the most may be so large that the sum
        // wraps.
        long entries = share > most ? share : share + share / 8 + 1;
        if (entries > most) {
            throw new IllegalArgumentException("a leased map for " + objects + " objects leaves no room for their "
                    + "values in " + regions + " regions of " + ByteSize.text(regionBytes)
                    + ", which have tables for up to "
                    + most * 8 / 9 * regions * perRegion + "; take more memory or fewer objects");
        }
        int buckets = Integer.highestOneBit((int) Math.max(1, entries));
        return new ShardShape(perRegion, shardBytes, buckets, (int) entries);
    }

    /** The number of the shard that has a key. @param shards of the map */
    public static int shard(long hash, int shards) {
        return (int) ((hash >>> 32 & (1 << HASH_BITS) - 1) * shards >>> HASH_BITS);
    }

    /** Offset of the table in a shard. */
    public long table() {
        return TABLE;
    }

    /** Offset of the entries. */
    public long entriesAt() {
        return line(TABLE + (long) buckets * Integer.BYTES);
    }

    /** Offset of the heap. */
    public long heap() {
        return entriesAt() + (entries + 1L) * ENTRY_BYTES;
    }

    /** Offset of the first segment. */
    public long segmentsAt() {
        return line(heap() + (entries + 1L) * Integer.BYTES);
    }

    /** How many segments a shard has. */
    public int segments() {
        return (int) ((shardBytes - segmentsAt()) / SEGMENT_BYTES);
    }

    private static long line(long at) {
        return at + LINE - 1 & -LINE;
    }
}
