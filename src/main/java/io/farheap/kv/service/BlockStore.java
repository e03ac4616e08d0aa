package io.farheap.kv.service;

import io.farheap.kv.format.BlockFormat;
import io.farheap.kv.format.MapCalls;
import io.farheap.kv.format.MapDescriptor;
import io.farheap.kv.format.SizeClasses;
import io.farheap.kv.format.SlotWord;
import io.farheap.kv.format.SpaceShape;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.function.IntFunction;
import java.util.function.LongSupplier;
import org.agrona.collections.Int2ObjectHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The blocks of a map on one server: segments that have never been handed out, and pools of free blocks. One thread at
 * a time.
 *
 * <p><b>Segments that change their class.</b> If a class has no block left, segments of which all blocks are in the
 * pool are retired: their blocks are no longer handed out. A request in flight may still hold a word of such a block,
 * read it, or write its extension late. Therefore a retired segment is handed out again, for any class and with
 * incarnations from the first on, only when every request in flight has begun after the segment was retired
 * ({@link #settle}). The {@link SegmentRebalancer} empties other segments, so that they can be retired too.
 */
final class BlockStore implements SegmentRebalancer.SegmentStore {

    /** How many segments are handed out together at most, if each is one block. */
    private static final int MOST_TOGETHER = 16;
    /** At most one in this many of the segments that are left is handed out at a time. */
    private static final int SHARE = 64;
    /** A class that has fewer than one in this many of the segments is seldom evicted. */
    private static final int RARE_SHARE = 64;

    private static final int FIRST_INCARNATION = 1;
    /** How many segments one call looks at to find full ones. */
    private static final int LOOKED_AT = 2048;
    /**
     * How many segments wait at a time: this many, or one in {@code RETIRED_SHARE} if that is more. The other full ones
     * stay in use as they are.
     */
    private static final int MOST_RETIRED = 16;

    private static final int RETIRED_SHARE = 16;
    /** If one in this many of all units is free, a larger block is used rather than an eviction. */
    private static final int PLENTY_SHARE = 8;

    private record RetiredSegment(int region, int segment, long epoch) {}

    private final MapDescriptor map;
    private final SpaceShape shape;
    /** In the order of the server's space. */
    private final List<RegionBlocks> regions = new ArrayList<>();
    /** The regions that the map has grown by, by their number in the map. */
    private final Int2ObjectHashMap<RegionBlocks> grown = new Int2ObjectHashMap<>();

    /** By class: the segments with blocks in the pool; the region is above 32 bits. */
    private final LongFifo[] pools = new LongFifo[SizeClasses.COUNT];

    private final Deque<RetiredSegment> retired = new ArrayDeque<>();
    private final Deque<RetiredSegment> settled = new ArrayDeque<>();
    private final SegmentRebalancer emptying;
    /**
     * By class: the number of segments, and of free blocks; blocks of segments that are being emptied are not counted
     * as free.
     */
    private final long[] segmentsOf = new long[SizeClasses.COUNT];

    private final long[] usableOf = new long[SizeClasses.COUNT];
    private long epoch = 1;
    private int lookRegion;
    private int lookSegment;
    private long pooled;
    /** The units of the blocks that can be handed out. */
    private long availableUnits;

    private long worn;
    /** The region of the next segment that is handed out. */
    private int next;
    /** Whether the server is to leave the map: then nothing is handed out. */
    private boolean leaving;

    private boolean left;
    private long leavingEpoch;

    BlockStore(MapDescriptor map, LongSupplier nanoTime) {
        this.map = map;
        this.shape = map.shape();
        emptying = new SegmentRebalancer(this, nanoTime);
        for (int i = 0; i < map.firstRegions(); i++) {
            regions.add(new RegionBlocks(i, i * map.servers() + map.server(), shape, true));
        }
        for (int i = 0; i < pools.length; i++) {
            pools[i] = new LongFifo();
        }
    }

    /**
     * Adds regions that the map has grown by and that all processes have added: from now on their segments are handed
     * out.
     *
     * @param number of the first of them in the map
     * @param first of them in the space
     * @param regionsHere that the space has
     * @param table whether they have a part of the table
     * @return false if they neither follow the known regions nor have been offered before
     */
    boolean offer(int number, int first, int count, int regionsHere, boolean table) {
        if (number < map.regionsOfEach() * map.servers()
                || count < 1
                || count > shape.mostRegions() - number
                || first < map.firstRegions()
                || first > regions.size()
                || count > regionsHere - first) {
            return false;
        }
        if (first < regions.size()) {
            return first + count <= regions.size()
                    && regions.get(first).number() == number
                    && regions.get(first + count - 1).number() == number + count - 1;
        }
        for (int i = 0; i < count; i++) {
            if (grown.containsKey(number + i)) {
                return false;
            }
        }
        for (int i = 0; i < count; i++) {
            RegionBlocks more = new RegionBlocks(first + i, number + i, shape, table);
            regions.add(more);
            grown.put(number + i, more);
        }
        return true;
    }

    /** Whether there is anything to hand out. */
    boolean hasRoom() {
        return !leaving && (availableUnits > 0 || !settled.isEmpty() || segmentsLeft() > 0);
    }

    /**
     * Stops handing blocks out, or resumes it unless the server has left for good. A server that has left does not
     * resume, as processes learn of a change at different times, and one that learned of it late would store objects
     * where the others no longer find any.
     *
     * @param what a value of {@link MapCalls#DRAIN}
     */
    void leave(long what) {
        left |= what == MapCalls.HAS_LEFT;
        boolean leaves = left || what == MapCalls.LEAVES;
        if (leaves && !leaving) {
            emptying.stopAll();
            leavingEpoch = ++epoch;
        }
        leaving = leaves;
    }

    boolean isLeaving() {
        return leaving;
    }

    /** Whether all requests in flight began after it was known that the server's blocks must not be used any more. */
    boolean hasLeft(long reached) {
        return leaving && reached >= leavingEpoch;
    }

    /** A number that rises when segments are retired or are to be emptied, and when the server is to leave. */
    long epoch() {
        return epoch;
    }

    /** Whether segments wait for requests in flight to end. */
    boolean waits() {
        return !retired.isEmpty() || emptying.any();
    }

    /** The segments that are being emptied. */
    SegmentRebalancer emptying() {
        return emptying;
    }

    @Override
    public long nextEpoch() {
        return ++epoch;
    }

    /**
     * Called with the oldest epoch that any process has acknowledged: every request in flight began when {@link #epoch}
     * had this value, or later.
     */
    void settle(long reached) {
        while (!retired.isEmpty() && retired.getFirst().epoch <= reached) {
            settled.add(retired.removeFirst());
        }
        emptying.settle(reached);
    }

    /**
     * Fills a reply of {@link MapCalls#TAKE}, from its kind on.
     *
     * @param memory of the regions
     * @return its words
     */
    int take(TakeRequest wanted, IntFunction<MemorySegment> memory, long[] reply) {
        int sizeClass = wanted.sizeClass();
        if (leaving) {
            return nothing(MapCalls.NOTHING, reply);
        }
        if (pools[sizeClass].size() > 0) {
            return takePooled(sizeClass, wanted.blocks(), reply);
        }
        if (wanted.want() == MapCalls.FREE_BLOCKS) {
            return nothing(MapCalls.NOTHING, reply);
        }
        if (SizeClasses.units(sizeClass) * BlockFormat.UNIT_BYTES <= shape.segmentBytes()) {
            long left = segmentsLeft();
            if (left > 0) {
                // Segments of one block are handed out together anyway.
                int most = shape.segmentBytes() == BlockFormat.UNIT_BYTES ? 1 : wanted.segments();
                return takeSegments(sizeClass, Math.clamp(left / SHARE, 1, most), reply);
            }
            if (!settled.isEmpty()) {
                reuse(settled.removeFirst(), sizeClass, memory);
                int words = takePooled(sizeClass, wanted.blocks(), reply);
                if (settled.isEmpty()) {
                    // So the next call does not have to wait as long.
                    retireFull();
                    emptying.choose(sizeClass, wanted.want());
                }
                return words;
            }
            retireFull();
            emptying.choose(sizeClass, wanted.want());
        }
        return takeLarger(sizeClass, isPlenty() ? SizeClasses.COUNT - 1 : wanted.largest(), wanted.want(), reply);
    }

    private static int nothing(long kind, long[] reply) {
        reply[1] = kind;
        reply[2] = 0;
        return 3;
    }

    /**
     * Gives a retired segment to a class. All its blocks go to the pool, as other processes may want some of them too.
     */
    private void reuse(RetiredSegment again, int sizeClass, IntFunction<MemorySegment> memory) {
        RegionBlocks region = regions.get(again.region);
        region.reuse(again.segment, sizeClass, memory.apply(again.region));
        segmentsOf[sizeClass]++;
        for (int block = 0; block < region.blocks(again.segment); block++) {
            put(region, region.unitOf(again.segment, block), FIRST_INCARNATION);
        }
    }

    /** The number of segments that have never been handed out. */
    private long segmentsLeft() {
        long left = 0;
        for (RegionBlocks region : regions) {
            left += region.left();
        }
        return left;
    }

    /** Hands segments out; the caller has checked that this many are left. */
    private int takeSegments(int sizeClass, int segments, long[] reply) {
        int words = 0;
        for (int i = 0; i < segments; i++) {
            RegionBlocks region = nextLeft();
            int together = together(region);
            segmentsOf[sizeClass] += together;
            reply[3 + words++] = region.handOut(sizeClass, together);
            reply[3 + words++] = (long) together * shape.segmentBytes();
        }
        reply[1] = MapCalls.SEGMENT;
        reply[2] = words;
        return 3 + words;
    }

    /**
     * A block does not reach over the end of a segment, so several segments can be used as one only if each is one
     * block.
     */
    private int together(RegionBlocks region) {
        return shape.segmentBytes() == BlockFormat.UNIT_BYTES ? Math.clamp(region.left() / SHARE, 1, MOST_TOGETHER) : 1;
    }

    /** Whether so much is free in blocks of other sizes that a larger block is better than an eviction. */
    private boolean isPlenty() {
        return availableUnits * PLENTY_SHARE >= segmentsHandedOut() * (shape.segmentBytes() / BlockFormat.UNIT_BYTES);
    }

    /** A block that is too large is better than none. */
    private int takeLarger(int sizeClass, int largest, int want, long[] reply) {
        for (int larger = sizeClass + 1; larger <= largest; larger++) {
            if (pools[larger].size() > 0) {
                return takePooled(larger, 1, reply);
            }
        }
        return nothing(waits() && isWorthWaiting(sizeClass, want) ? MapCalls.LATER : MapCalls.NOTHING, reply);
    }

    /**
     * Whether to wait for a retired segment rather than evict: an eviction was in vain, or nearly all objects are of
     * other sizes.
     */
    private boolean isWorthWaiting(int sizeClass, int want) {
        return want == MapCalls.LAST
                || want == MapCalls.AGAIN && segmentsOf[sizeClass] * RARE_SHARE < segmentsHandedOut();
    }

    private int takePooled(int sizeClass, int most, long[] reply) {
        LongFifo pool = pools[sizeClass];
        int n = 0;
        while (n < most && pool.size() > 0) {
            RegionBlocks region = regions.get((int) (pool.first() >>> Integer.SIZE));
            int segment = (int) pool.first();
            n += region.takePooled(segment, most - n, reply, 3 + n);
            if (region.usable(segment) == 0) {
                pool.remove();
            }
        }
        pooled -= n;
        addUsable(sizeClass, -n);
        reply[1] = MapCalls.BLOCKS;
        reply[2] = n;
        return 3 + n;
    }

    /** Retires full segments, beginning where the last call stopped. */
    private void retireFull() {
        if (regions.isEmpty()) {
            return;
        }
        boolean any = false;
        long most = Math.max(MOST_RETIRED, segmentsHandedOut() / RETIRED_SHARE);
        for (int looked = 0; looked < LOOKED_AT && retired.size() < most; looked++) {
            if (lookSegment >= regions.get(lookRegion).handedOut()) {
                lookSegment = 0;
                lookRegion = (lookRegion + 1) % regions.size();
                if (lookRegion == 0) {
                    break;
                }
            } else {
                RegionBlocks region = regions.get(lookRegion);
                if (region.full(lookSegment)) {
                    epoch += any ? 0 : 1;
                    any = true;
                    retire(region, lookRegion, lookSegment);
                }
                lookSegment++;
            }
        }
    }

    private void retire(RegionBlocks region, int number, int segment) {
        int sizeClass = region.classOf(segment);
        if (!region.isEmptying(segment)) {
            withdraw(region, segment);
        }
        segmentsOf[sizeClass]--;
        pooled -= region.usable(segment);
        worn -= region.blocks(segment) - region.usable(segment);
        region.retire(segment);
        retired.add(new RetiredSegment(number, segment, epoch));
    }

    /** The segment's free blocks are no longer handed out. */
    @Override
    public void withdraw(RegionBlocks region, int segment) {
        int sizeClass = region.classOf(segment);
        pools[sizeClass].removeAll(id(region, segment));
        addUsable(sizeClass, -region.usable(segment));
    }

    /** The segment's free blocks are handed out again. */
    @Override
    public void offer(RegionBlocks region, int segment) {
        int sizeClass = region.classOf(segment);
        if (region.usable(segment) > 0) {
            pools[sizeClass].add(id(region, segment));
        }
        addUsable(sizeClass, region.usable(segment));
    }

    private void addUsable(int sizeClass, int n) {
        usableOf[sizeClass] += n;
        availableUnits += (long) n * SizeClasses.units(sizeClass);
    }

    private static long id(RegionBlocks region, int segment) {
        return (long) region.index() << Integer.SIZE | segment;
    }

    /** The next region, in turn, that has segments left; the caller has checked that there is one. */
    private RegionBlocks nextLeft() {
        RegionBlocks region;
        do {
            region = regions.get(next);
            next = (next + 1) % regions.size();
        } while (region.left() == 0);
        return region;
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

    /** @param incarnation of the block's next use; 0 if none is left */
    void put(RegionBlocks region, int unit, int incarnation) {
        region.clear(unit);
        int segment = region.segmentOf(unit);
        int sizeClass = region.classOf(segment);
        boolean first = region.addPooled(unit, incarnation);
        if (incarnation == 0) {
            worn++;
        } else {
            pooled++;
        }
        if (region.isEmptying(segment)) {
            emptying.came(region, segment);
            if (region.full(segment)) {
                emptying.done(region, segment);
                nextEpoch();
                retire(region, region.index(), segment);
            }
            return;
        }
        if (first) {
            pools[sizeClass].add(id(region, segment));
        }
        if (incarnation != 0) {
            addUsable(sizeClass, 1);
        }
    }

    /** The region of the block that a word names; null if the word names none. */
    @Nullable
    RegionBlocks find(long word) {
        RegionBlocks region = region((int) (SlotWord.place(word) >>> shape.placeShift()));
        if (region == null) {
            return null;
        }
        int sizeClass = region.classAt(region.unit(SlotWord.place(word)));
        return sizeClass != RegionBlocks.NONE && SlotWord.units(word) == SizeClasses.units(sizeClass) ? region : null;
    }

    private @Nullable RegionBlocks region(int number) {
        if (number >= map.regionsOfEach() * map.servers()) {
            return grown.get(number);
        }
        return number >= 0 && number % map.servers() == map.server() ? regions.get(number / map.servers()) : null;
    }

    int unit(long word) {
        return (int) (SlotWord.place(word) & (1L << shape.placeShift()) - 1);
    }

    @Override
    public long segmentsHandedOut() {
        long sum = -(long) retired.size() - settled.size();
        for (RegionBlocks region : regions) {
            sum += region.handedOut();
        }
        return sum;
    }

    @Override
    public int regions() {
        return regions.size();
    }

    @Override
    public SpaceShape shape() {
        return shape;
    }

    /** Segments that are of a class. */
    @Override
    public long segmentsOf(int sizeClass) {
        return segmentsOf[sizeClass];
    }

    /** Free blocks of a class that can be handed out. */
    @Override
    public long usableOf(int sizeClass) {
        return usableOf[sizeClass];
    }

    /** The retired segments, which may become of any class. */
    @Override
    public int onTheWay() {
        return retired.size() + settled.size();
    }

    @Override
    public RegionBlocks at(int region) {
        return regions.get(region);
    }

    long pooled() {
        return pooled;
    }

    long worn() {
        return worn;
    }
}
