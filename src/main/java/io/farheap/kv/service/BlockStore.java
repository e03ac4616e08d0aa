package io.farheap.kv.service;

import io.farheap.kv.BlockFormat;
import io.farheap.kv.MapDescriptor;
import io.farheap.kv.SizeClasses;
import io.farheap.kv.SlotWord;
import io.farheap.kv.SpaceShape;
import org.jspecify.annotations.Nullable;

/** The blocks of a map on one server: segments that nobody has had, and pools of free blocks. One thread at a time. */
final class BlockStore {

    /** Where segments are small, so many go together at most. */
    private static final int MOST_TOGETHER = 16;
    /** And of those that are left one in so many. */
    private static final int SHARE = 64;

    private final MapDescriptor map;
    private final SpaceShape shape;
    private final RegionBlocks[] regions;
    private final LongFifo[] pools = new LongFifo[SizeClasses.COUNT];
    private long pooled;
    private long worn;
    /** The region that the next segment is of. */
    private int next;

    BlockStore(MapDescriptor map) {
        this.map = map;
        this.shape = map.shape();
        regions = new RegionBlocks[map.regionsOfEach()];
        for (int i = 0; i < regions.length; i++) {
            regions[i] = new RegionBlocks(i * map.servers() + map.server(), shape);
        }
        for (int i = 0; i < pools.length; i++) {
            pools[i] = new LongFifo();
        }
    }

    /** Whether there is anything to hand out. */
    boolean hasRoom() {
        return pooled > 0 || leftRegion() != null;
    }

    /**
     * Fills a reply of {@link MapCalls#TAKE}, from its kind on.
     *
     * @param most blocks
     * @return its words
     */
    int take(int sizeClass, int most, long[] reply) {
        if (pools[sizeClass].size() > 0) {
            return takePooled(sizeClass, most, reply);
        }
        RegionBlocks region = leftRegion();
        if (region == null || SizeClasses.units(sizeClass) * BlockFormat.UNIT_BYTES > shape.segmentBytes()) {
            return takeLarger(sizeClass, reply);
        }
        // Blocks do not reach over the end of a segment, so several go together only where each is one block.
        int count = shape.segmentBytes() == BlockFormat.UNIT_BYTES
                ? Math.clamp(region.left() / SHARE, 1, MOST_TOGETHER)
                : 1;
        reply[1] = MapCalls.SEGMENT;
        reply[2] = 2;
        reply[3] = region.handOut(sizeClass, count);
        reply[4] = (long) count * shape.segmentBytes();
        return 5;
    }

    /** A block that is too large is better than none. */
    private int takeLarger(int sizeClass, long[] reply) {
        for (int larger = sizeClass + 1; larger < pools.length; larger++) {
            if (pools[larger].size() > 0) {
                return takePooled(larger, 1, reply);
            }
        }
        reply[1] = MapCalls.NOTHING;
        reply[2] = 0;
        return 3;
    }

    private int takePooled(int sizeClass, int most, long[] reply) {
        LongFifo pool = pools[sizeClass];
        int n = Math.min(pool.size(), Math.min(most, MapCalls.MOST_TAKEN));
        reply[1] = MapCalls.BLOCKS;
        reply[2] = n;
        for (int i = 0; i < n; i++) {
            long word = pool.remove();
            region(word).setPooled(unit(word), false);
            reply[3 + i] = word;
        }
        pooled -= n;
        return 3 + n;
    }

    private @Nullable RegionBlocks leftRegion() {
        for (int i = 0; i < regions.length; i++) {
            RegionBlocks region = regions[next];
            next = (next + 1) % regions.length;
            if (region.left() > 0) {
                return region;
            }
        }
        return null;
    }

    /** Takes a block back. @return whether it is one, and was not in a pool already */
    boolean give(long word) {
        RegionBlocks region = find(word);
        if (region == null || region.isPooled(unit(word))) {
            return false;
        }
        put(region, unit(word), SlotWord.incarnation(word));
        return true;
    }

    /** @param incarnation to be used next; 0 where there is none left */
    void put(RegionBlocks region, int unit, int incarnation) {
        region.setPooled(unit, true);
        region.clear(unit);
        if (incarnation == 0) {
            worn++;
            return;
        }
        int sizeClass = region.classAt(unit);
        pools[sizeClass].add(SlotWord.live(region.place(unit), incarnation, 0, SizeClasses.units(sizeClass)));
        pooled++;
    }

    /** The region of a block that there is; null where the word names none. */
    @Nullable
    RegionBlocks find(long word) {
        long number = SlotWord.place(word) >>> shape.placeShift();
        if (number % map.servers() != map.server() || number / map.servers() >= regions.length) {
            return null;
        }
        RegionBlocks region = regions[(int) (number / map.servers())];
        int sizeClass = region.classAt(region.unit(SlotWord.place(word)));
        return sizeClass != RegionBlocks.NONE && SlotWord.size(word) == SizeClasses.units(sizeClass) ? region : null;
    }

    private RegionBlocks region(long word) {
        return regions[(int) ((SlotWord.place(word) >>> shape.placeShift()) / map.servers())];
    }

    int unit(long word) {
        return (int) (SlotWord.place(word) & (1L << shape.placeShift()) - 1);
    }

    long segmentsHandedOut() {
        long sum = 0;
        for (RegionBlocks region : regions) {
            sum += region.handedOut();
        }
        return sum;
    }

    int regions() {
        return regions.length;
    }

    RegionBlocks at(int region) {
        return regions[region];
    }

    long pooled() {
        return pooled;
    }

    long worn() {
        return worn;
    }
}
