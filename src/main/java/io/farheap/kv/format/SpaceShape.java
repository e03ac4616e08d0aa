package io.farheap.kv.format;

/**
 * Where everything of a map lies in its regions. Each region begins with a page of words, then the region's part of the
 * table, then segments, which blocks are cut from. The table is as large as it was made; regions that are added later
 * have segments alone.
 *
 * <pre>
 * page, offsets in bytes
 *   0  u64  {@link #MAGIC}
 * 128  u64  number of the next history entry, modulo 2^48; region 0's counts for the map
 * 192  u64  number of the next session; region 0's counts for the map
 * </pre>
 *
 * @param regionBytes of each region
 * @param tableRegions regions with a part of the table
 * @param bucketsPerRegion buckets in each of these
 * @param objects how many the map is made for, which is also how long its history is
 * @param segmentBytes of a segment
 * @param mostSegments of a region that are used
 */
public record SpaceShape(
        long regionBytes, int tableRegions, int bucketsPerRegion, long objects, int segmentBytes, long mostSegments) {

    static final long MAGIC = 0x31564B5041454846L;
    public static final int PAGE_BYTES = 4096;
    public static final long HISTORY_COUNTER = 128;
    public static final long SESSION_COUNTER = 192;

    public static final int BUCKET_SLOTS = 16;
    public static final int BUCKET_BYTES = BUCKET_SLOTS * Slot.BYTES;
    /** Of a bucket: each has two slots, one for it and one for a history entry. */
    private static final long BUCKET_OBJECTS = BUCKET_SLOTS / 2;

    private static final int SEGMENT_BYTES = 64 << 10;

    private static final int REGION_BITS = 24;

    /**
     * The shape of a map.
     *
     * @param regions it begins with, 1 to 2^24
     * @param objects it is to hold, at least 1
     * @throws IllegalArgumentException where the table leaves no room for objects
     */
    public static SpaceShape of(long regionBytes, int regions, long objects) {
        if (objects < 1) {
            throw new IllegalArgumentException("a map for " + objects + " objects; it needs at least 1");
        }
        if (regions > mostRegions(regionBytes)) {
            throw new IllegalArgumentException("a map of " + regions + " regions of " + regionBytes / 1024
                    + " KiB; slots can name blocks in " + mostRegions(regionBytes) + ": take less memory");
        }
        long perRegion = Math.ceilDiv(Math.ceilDiv(objects, BUCKET_OBJECTS), regions);
        // As a quotient: the product may be more than 64 bits.
        long most = Math.min(Integer.MAX_VALUE, (regionBytes - PAGE_BYTES - SEGMENT_BYTES) / BUCKET_BYTES);
        if (perRegion > most) {
            throw new IllegalArgumentException("a table for " + objects + " objects leaves no room for their values in "
                    + regions + " regions of " + regionBytes / 1024 + " KiB, which have tables for up to "
                    + Math.max(0, most) * BUCKET_OBJECTS * regions + "; take more memory or fewer objects");
        }
        return new SpaceShape(regionBytes, regions, (int) perRegion, objects, SEGMENT_BYTES, Long.MAX_VALUE);
    }

    /** The same with other segments, for a map that is to hold so many blocks and no more. */
    SpaceShape withSegments(int bytes, long mostOfARegion) {
        return new SpaceShape(regionBytes, tableRegions, bucketsPerRegion, objects, bytes, mostOfARegion);
    }

    /** Which region has the bucket of a key. */
    public int bucketRegion(long hash) {
        return (int) ((hash >>> 32 & (1 << REGION_BITS) - 1) * tableRegions >>> REGION_BITS);
    }

    /** Where the bucket of a key begins in its region. */
    public long bucketAt(long hash) {
        return bucketAt(bucketOf(hash));
    }

    /** The number of the bucket of a key in its region. */
    public int bucketOf(long hash) {
        return (int) ((hash & 0xFFFFFFFFL) * bucketsPerRegion >>> 32);
    }

    /** Where a region's bucket begins, from its number in the region. */
    public long bucketAt(int bucket) {
        return PAGE_BYTES + (long) bucket * BUCKET_BYTES;
    }

    /** Where a region's segments begin. */
    public long segmentsAt(int region) {
        long used = PAGE_BYTES + (region < tableRegions ? (long) bucketsPerRegion * BUCKET_BYTES : 0);
        return used + BlockFormat.UNIT_BYTES - 1 & -BlockFormat.UNIT_BYTES;
    }

    /** How many segments a region has. */
    public long segments(int region) {
        return Math.min(mostSegments, (regionBytes - segmentsAt(region)) / segmentBytes);
    }

    /** By how many bits the number of a region stands above the unit in it, in a place. */
    public int placeShift() {
        return placeShift(regionBytes);
    }

    private static int placeShift(long regionBytes) {
        return Long.SIZE - Long.numberOfLeadingZeros((regionBytes >>> 6) - 1);
    }

    /** How many regions a map has at most, so that a slot can name each block. */
    public int mostRegions() {
        return mostRegions(regionBytes);
    }

    /** The same of regions of a size. */
    public static int mostRegions(long regionBytes) {
        return (int) Math.min(Integer.MAX_VALUE, SlotWord.MOST_PLACES >>> placeShift(regionBytes));
    }

    /** Whether a block of a class fits into a segment. */
    public boolean hasBlocksOf(int sizeClass) {
        return SizeClasses.units(sizeClass) * BlockFormat.UNIT_BYTES <= segmentBytes;
    }

    /** A block's place, as slots have it. */
    public long place(int region, long offset) {
        return (long) region << placeShift() | offset >>> 6;
    }
}
