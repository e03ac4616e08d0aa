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
 * The blocks of a map on one server: segments that nobody has had, and pools of free blocks. One thread at a time.
 *
 * <p><b>Segments that become others.</b> Where a class has nothing left, segments of which all blocks are in the pool
 * are retired: nobody gets their blocks any more. Somebody may still hold a word of a block of theirs, read it, or
 * write its extension late, so a segment is handed out anew, of any class and with incarnations from the first on, only
 * when every request in flight has begun after it was retired ({@link #settle}). Others are
 * {@linkplain SegmentRebalancer emptied} for that.
 */
final class BlockStore implements SegmentRebalancer.SegmentStore {

    /** Where segments are small, so many go together at most. */
    private static final int MOST_TOGETHER = 16;
    /** And of those that are left one in so many. */
    private static final int SHARE = 64;
    /** One that has fewer of the segments than one in so many is seldom evicted. */
    private static final int RARE_SHARE = 64;

    private static final int FIRST_INCARNATION = 1;
    /** Segments that one call looks at, to find full ones. */
    private static final int LOOKED_AT = 2048;
    /** Segments that wait at a time, or one in so many: the others are still of use as they are. */
    private static final int MOST_RETIRED = 16;

    private static final int RETIRED_SHARE = 16;
    /** One in so many of all units that is free is plenty. */
    private static final int PLENTY_SHARE = 8;

    private record RetiredSegment(int region, int segment, long epoch) {}

    private final MapDescriptor map;
    private final SpaceShape shape;
    /** In the order of the server's space. */
    private final List<RegionBlocks> regions = new ArrayList<>();
    /** Those that the map has grown by, by their number in the map. */
    private final Int2ObjectHashMap<RegionBlocks> grown = new Int2ObjectHashMap<>();

    /** By class: segments with blocks in the pool; the region above 32 bits. */
    private final LongFifo[] pools = new LongFifo[SizeClasses.COUNT];

    private final Deque<RetiredSegment> retired = new ArrayDeque<>();
    private final Deque<RetiredSegment> settled = new ArrayDeque<>();
    private final SegmentRebalancer emptying;
    /** By class: segments; and free blocks, those of segments that are being emptied aside. */
    private final long[] segmentsOf = new long[SizeClasses.COUNT];

    private final long[] usableOf = new long[SizeClasses.COUNT];
    private long epoch = 1;
    private int lookRegion;
    private int lookSegment;
    private long pooled;
    /** Units of those that can be handed out. */
    private long availableUnits;

    private long worn;
    /** The region that the next segment is of. */
    private int next;
    /** Nothing is handed out: the server is to leave the map. */
    private boolean leaving;

    private boolean left;
    private long leavingEpoch;

    BlockStore(MapDescriptor map, LongSupplier nanoTime) {
        this.map = map;
        this.shape = map.shape();
        emptying = new SegmentRebalancer(this, nanoTime);
        for (int i = 0; i < map.firstRegions(); i++) {
            regions.add(new RegionBlocks(i, i * map.servers() + map.server(), shape));
        }
        for (int i = 0; i < pools.length; i++) {
            pools[i] = new LongFifo();
        }
    }

    /**
     * Regions that the map has grown by and all processes have: from now on their segments are handed out.
     *
     * @param number of the first of them in the map
     * @param first of them in the space
     * @param regionsHere that the space has
     * @return false where they are not what follows, nor what has been offered before
     */
    boolean offer(int number, int first, int count, int regionsHere) {
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
            RegionBlocks more = new RegionBlocks(first + i, number + i, shape);
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
     * From now on nothing is handed out; or it is again, but not where the server has left. Processes hear of that at
     * different times, and whoever hears late would store where others find nothing any more.
     *
     * @param what as {@link MapCalls#DRAIN} has it
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

    /** Whether all requests in flight have begun when it was known that nothing is to be used any more, or later. */
    boolean hasLeft(long reached) {
        return leaving && reached >= leavingEpoch;
    }

    /** Counts up when segments are retired or are to be emptied, and when the server is to leave. */
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

    /** Every request in flight has begun when {@link #epoch} said this, or later. */
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
                // Those of one block go together anyway.
                int most = shape.segmentBytes() == BlockFormat.UNIT_BYTES ? 1 : wanted.segments();
                return takeSegments(sizeClass, Math.clamp(left / SHARE, 1, most), reply);
            }
            if (!settled.isEmpty()) {
                reuse(settled.removeFirst(), sizeClass, memory);
                int words = takePooled(sizeClass, wanted.blocks(), reply);
                if (settled.isEmpty()) {
                    // The next will not have to wait as long.
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

    /** A segment's blocks are those of a class: in the pool, since others may want some of them, too. */
    private void reuse(RetiredSegment again, int sizeClass, IntFunction<MemorySegment> memory) {
        RegionBlocks region = regions.get(again.region);
        region.reuse(again.segment, sizeClass, memory.apply(again.region));
        segmentsOf[sizeClass]++;
        for (int block = 0; block < region.blocks(again.segment); block++) {
            put(region, region.unitOf(again.segment, block), FIRST_INCARNATION);
        }
    }

    /** Those that nobody has had. */
    private long segmentsLeft() {
        long left = 0;
        for (RegionBlocks region : regions) {
            left += region.left();
        }
        return left;
    }

    /** There are so many left. */
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

    /** Blocks do not reach over the end of a segment, so several are as one only where each is one block. */
    private int together(RegionBlocks region) {
        return shape.segmentBytes() == BlockFormat.UNIT_BYTES ? Math.clamp(region.left() / SHARE, 1, MOST_TOGETHER) : 1;
    }

    /** Whether so much is free in blocks of other sizes that it is better to use a larger one than to evict. */
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

    /** Whether evicting is not likely to be faster: it was in vain, or nearly all objects are of other sizes. */
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

    /** Retires full segments, of those that it is the turn of. */
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

    /** A segment's free blocks are handed out no more. */
    @Override
    public void withdraw(RegionBlocks region, int segment) {
        int sizeClass = region.classOf(segment);
        pools[sizeClass].removeAll(id(region, segment));
        addUsable(sizeClass, -region.usable(segment));
    }

    /** They are handed out again. */
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

    /** Of a region each in turn; there is one that has some left. */
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

    /** @param incarnation to be used next; 0 where there is none left */
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

    /** The region of a block that there is; null where the word names none. */
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

    /** Segments that are about to be of any class. */
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
