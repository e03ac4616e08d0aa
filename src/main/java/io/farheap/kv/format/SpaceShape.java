package io.farheap.kv.format;

import io.farheap.memory.ByteSize;

/**
 * The layout of a map in its regions. Each region begins with a page of counters, then comes the region's part of the
 * table, then segments, from which blocks are cut. The table never grows; regions that are added later have segments
 * alone.
 *
 * <pre>
 * page, offsets in bytes
 *   0  u64  {@link #MAGIC}
 * 128  u64  number of the next history entry, modulo 2^48; the map uses the one in region 0
 * 192  u64  number of the next session; the map uses the one in region 0
 * </pre>
 *
 * @param regionBytes of each region
 * @param tableRegions regions with a part of the table
 * @param bucketsPerRegion buckets in each of these
 * @param objects how many the map is made for, which is also the length of its history
 * @param segmentBytes of a segment
 * @param mostSegments the most segments of a region that are used
 */
public record SpaceShape(
        long regionBytes, int tableRegions, int bucketsPerRegion, long objects, int segmentBytes, long mostSegments) {

    static final long MAGIC = 0x31564B5041454846L;
    public static final int PAGE_BYTES = 4096;
    /** Offset in region 0 of the number of the next history entry. */
    public static final long HISTORY_COUNTER = 128;
    /** Offset in region 0 of the number of the next session. */
    public static final long SESSION_COUNTER = 192;

    public static final int BUCKET_SLOTS = 16;
    public static final int BUCKET_BYTES = BUCKET_SLOTS * Slot.BYTES;
    /** Objects for a bucket: each takes two slots, one for itself and one for a history entry. */
    private static final long BUCKET_OBJECTS = BUCKET_SLOTS / 2;

    private static final int SEGMENT_BYTES = 64 << 10;

    private static final int REGION_BITS = 24;

    /**
     * The shape of a map.
     *
     * @param regions that it begins with, 1 to 2^24
     * @param objects that it is to hold, at least 1
     * @throws IllegalArgumentException if the table leaves no room for objects
     */
    public static SpaceShape of(long regionBytes, int regions, long objects) {
        if (objects < 1) {
            throw new IllegalArgumentException("a map for " + objects + " objects; it needs at least 1");
        }
        if (regions > mostRegions(regionBytes)) {
            throw new IllegalArgumentException("a map of " + regions + " regions of " + ByteSize.text(regionBytes)
                    + "; slots can name blocks in " + mostRegions(regionBytes) + ": take less memory");
        }
        long perRegion = Math.ceilDiv(Math.ceilDiv(objects, BUCKET_OBJECTS), regions);
        // A quotient, since the product may have more than 64 bits.
        long most = Math.min(Integer.MAX_VALUE, (regionBytes - PAGE_BYTES - SEGMENT_BYTES) / BUCKET_BYTES);
        if (perRegion > most) {
            throw new IllegalArgumentException("a table for " + objects + " objects leaves no room for their values in "
                    + regions + " regions of " + ByteSize.text(regionBytes) + ", which have tables for up to "
                    + Math.max(0, most) * BUCKET_OBJECTS * regions + "; take more memory or fewer objects");
        }
        return new SpaceShape(regionBytes, regions, (int) perRegion, objects, SEGMENT_BYTES, Long.MAX_VALUE);
    }

    /** This shape with other segments, for a map that holds a limited number of blocks. */
    SpaceShape withSegments(int bytes, long mostOfARegion) {
        return new SpaceShape(regionBytes, tableRegions, bucketsPerRegion, objects, bytes, mostOfARegion);
    }

    /** The number of the region that has the bucket of a key. */
    public int bucketRegion(long hash) {
        return (int) ((hash >>> 32 & (1 << REGION_BITS) - 1) * tableRegions >>> REGION_BITS);
    }

    /** The offset of a key's bucket in its region. */
    public long bucketAt(long hash) {
        return bucketAt(bucketOf(hash));
    }

    /** The number of a key's bucket in its region. */
    public int bucketOf(long hash) {
        return (int) ((hash & 0xFFFFFFFFL) * bucketsPerRegion >>> 32);
    }

    /** The offset of a bucket in its region, by its number there. */
    public long bucketAt(int bucket) {
        return PAGE_BYTES + (long) bucket * BUCKET_BYTES;
    }

    /** The offset of a region's first segment. */
    public long segmentsAt(int region) {
        return segmentsAt(region < tableRegions);
    }

    /** The offset of the first segment of a region with or without a part of the table. */
    public long segmentsAt(boolean table) {
        long used = PAGE_BYTES + (table ? (long) bucketsPerRegion * BUCKET_BYTES : 0);
        return used + BlockFormat.UNIT_BYTES - 1 & -BlockFormat.UNIT_BYTES;
    }

    /** How many segments a region has. */
    public long segments(int region) {
        return segments(region < tableRegions);
    }

    /** How many segments a region with or without a part of the table has. */
    public long segments(boolean table) {
        return Math.min(mostSegments, (regionBytes - segmentsAt(table)) / segmentBytes);
    }

    /** By how many bits a place has the region's number shifted above the unit in the region. */
    public int placeShift() {
        return placeShift(regionBytes);
    }

    private static int placeShift(long regionBytes) {
        return Long.SIZE - Long.numberOfLeadingZeros((regionBytes >>> 6) - 1);
    }

    /** How many regions a map has at most, so that a slot's word can name each block. */
    public int mostRegions() {
        return mostRegions(regionBytes);
    }

    /** The same for regions of this size. */
    public static int mostRegions(long regionBytes) {
        return (int) Math.min(Integer.MAX_VALUE, SlotWord.MOST_PLACES >>> placeShift(regionBytes));
    }

    /** Whether a block of this class fits into a segment. */
    public boolean hasBlocksOf(int sizeClass) {
        return SizeClasses.units(sizeClass) * BlockFormat.UNIT_BYTES <= segmentBytes;
    }

    /** The place of a block, as slots' words have it. */
    public long place(int region, long offset) {
        return (long) region << placeShift() | offset >>> 6;
    }
}
