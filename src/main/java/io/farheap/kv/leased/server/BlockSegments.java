package io.farheap.kv.leased.server;

import io.farheap.kv.format.SizeClasses;
import io.farheap.kv.leased.format.LeasedBlock;
import io.farheap.kv.leased.format.LeasedPieces;
import io.farheap.kv.leased.format.ShardShape;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/**
 * The segments of a shard, and their free blocks. A segment has blocks of one size class; one whose blocks are all free
 * serves any class again. A block is given here when nothing can read it for an object's any more. The shard's thread.
 */
final class BlockSegments {

    static final int NO_BLOCK = 0;

    /** No segment. */
    static final int NONE = -1;

    private static final byte OF_NO_CLASS = -1;

    private final MemorySegment memory;
    private final long at;
    private final int firstUnit;
    private final int segments;
    /** By segment: its class; the blocks that were cut; those in use; the first free one that was in use before. */
    private final byte[] sizeClass;

    private final int[] cut;
    private final int[] inUse;
    private final int[] freed;
    /** By segment: whether no block of it is handed out until all are free. */
    private final boolean[] closing;
    /** By segment: until when any of its blocks is leased, at most. */
    private final long[] leasedUntil;
    /** By segment: the last call for which it must not be emptied, and how many blocks of it no object has yet. */
    private final int[] keptFor;

    private final int[] reserved;

    /** By segment: its neighbours in the list of those of its class that have a free block. */
    private final int[] before;

    private final int[] after;
    /** By class: the first segment that has a free block. */
    private final int[] first = new int[SizeClasses.COUNT];
    /** Segments of no class. */
    private final int[] empty;

    private int empties;
    private int closings;
    /** The present call, for {@link #keptFor}. */
    private int call;

    /** The segment that {@link #notLeased} found last. */
    private int turn;

    /** @param at offset of the shard in the memory */
    BlockSegments(MemorySegment memory, long at, ShardShape shape) {
        this.memory = memory;
        this.at = at;
        this.firstUnit = (int) (shape.segmentsAt() / LeasedBlock.UNIT_BYTES);
        this.segments = shape.segments();
        sizeClass = new byte[segments];
        cut = new int[segments];
        inUse = new int[segments];
        freed = new int[segments];
        closing = new boolean[segments];
        leasedUntil = new long[segments];
        keptFor = new int[segments];
        reserved = new int[segments];
        before = new int[segments];
        after = new int[segments];
        empty = new int[segments];
        Arrays.fill(sizeClass, OF_NO_CLASS);
        Arrays.fill(first, NONE);
        for (int segment = segments - 1; segment >= 0; segment--) {
            empty[empties++] = segment;
        }
    }

    private static int blocks(int sizeClass) {
        return ShardShape.SEGMENT_BYTES / LeasedBlock.UNIT_BYTES / SizeClasses.units(sizeClass);
    }

    /** The segment of a block. */
    int of(int unit) {
        return (unit - firstUnit) / (ShardShape.SEGMENT_BYTES / LeasedBlock.UNIT_BYTES);
    }

    private int firstUnit(int segment) {
        return firstUnit + segment * (ShardShape.SEGMENT_BYTES / LeasedBlock.UNIT_BYTES);
    }

    private long offset(int unit) {
        return at + (long) unit * LeasedBlock.UNIT_BYTES;
    }

    /** A free block of a class, or {@link #NO_BLOCK}. */
    int take(int ofSize) {
        int segment = first[ofSize];
        if (segment == NONE) {
            if (empties == 0) {
                return NO_BLOCK;
            }
            segment = empty[--empties];
            sizeClass[segment] = (byte) ofSize;
            cut[segment] = 0;
            freed[segment] = NO_BLOCK;
            list(segment, ofSize);
        }
        int unit = freed[segment];
        if (unit != NO_BLOCK) {
            freed[segment] = (int) LeasedBlock.link(memory, offset(unit));
        } else {
            unit = firstUnit(segment) + cut[segment]++ * SizeClasses.units(ofSize);
        }
        inUse[segment]++;
        if (isFull(segment)) {
            unlist(segment, ofSize);
        }
        return unit;
    }

    private boolean isFull(int segment) {
        return freed[segment] == NO_BLOCK && cut[segment] == blocks(sizeClass[segment]);
    }

    /** A block is free. */
    void give(int unit) {
        int segment = of(unit);
        int ofSize = sizeClass[segment];
        boolean listed = !closing[segment] && !isFull(segment);
        LeasedBlock.setLink(memory, offset(unit), freed[segment]);
        freed[segment] = unit;
        inUse[segment]--;
        if (inUse[segment] == 0) {
            if (listed) {
                unlist(segment, ofSize);
            }
            free(segment);
        } else if (!listed && !closing[segment]) {
            list(segment, ofSize);
        }
    }

    private void free(int segment) {
        sizeClass[segment] = OF_NO_CLASS;
        leasedUntil[segment] = 0;
        if (closing[segment]) {
            closing[segment] = false;
            closings--;
        }
        empty[empties++] = segment;
    }

    private void list(int segment, int ofSize) {
        before[segment] = NONE;
        after[segment] = first[ofSize];
        if (first[ofSize] != NONE) {
            before[first[ofSize]] = segment;
        }
        first[ofSize] = segment;
    }

    private void unlist(int segment, int ofSize) {
        if (before[segment] == NONE) {
            first[ofSize] = after[segment];
        } else {
            after[before[segment]] = after[segment];
        }
        if (after[segment] != NONE) {
            before[after[segment]] = before[segment];
        }
    }

    /** Hands out no block of a segment any more, until all of them are free. */
    void close(int segment) {
        if (!closing[segment]) {
            if (!isFull(segment)) {
                unlist(segment, sizeClass[segment]);
            }
            closing[segment] = true;
            closings++;
        }
    }

    /** How many segments wait until all of their blocks are free. */
    int closings() {
        return closings;
    }

    /** A block is leased. */
    void leased(int unit, long until) {
        int segment = of(unit);
        leasedUntil[segment] = Math.max(leasedUntil[segment], until);
    }

    /** A call begins for which no segment has to stay. */
    void keepNone() {
        call++;
    }

    /** The segment of a block is not to be emptied during this call. */
    void keep(int unit) {
        keptFor[of(unit)] = call;
    }

    /** A block is taken for an object that will be stored by a later call: its segment is not to be emptied. */
    void reserve(int unit) {
        reserved[of(unit)]++;
    }

    void endReservation(int unit) {
        reserved[of(unit)]--;
    }

    /** How many blocks are reserved. */
    int reservations() {
        return Arrays.stream(reserved).sum();
    }

    boolean isKept(int unit) {
        return isKeptSegment(of(unit));
    }

    private boolean isKeptSegment(int segment) {
        return keptFor[segment] == call || reserved[segment] > 0;
    }

    /** The bytes of a block that is in use. */
    long blockBytes(int unit) {
        return (long) SizeClasses.units(sizeClass[of(unit)]) * LeasedBlock.UNIT_BYTES;
    }

    /** How many segments a value in pieces and its index fill if they have them for themselves. */
    static int needed(int keyBytes, int valueBytes) {
        int count = LeasedPieces.count(valueBytes);
        int ofMost = LeasedPieces.sizeClass(valueBytes, 0);
        int ofLast = LeasedPieces.sizeClass(valueBytes, count - 1);
        int ofIndex = SizeClasses.of(LeasedBlock.units(keyBytes, valueBytes));
        int together = count - (ofLast == ofMost ? 0 : 1) + (ofIndex == ofMost ? 1 : 0);
        int others = (ofLast == ofMost ? 0 : 1) + (ofIndex == ofMost || ofIndex == ofLast ? 0 : 1);
        return Math.ceilDiv(together, blocks(ofMost)) + others;
    }

    /** A segment of which no block is leased and that need not stay, each in its turn, or {@link #NONE}. */
    int notLeased(long now) {
        for (int i = 0; i < segments; i++) {
            turn = turn + 1 < segments ? turn + 1 : 0;
            if (leasedUntil[turn] <= now && !closing[turn] && !isKeptSegment(turn)) {
                return turn;
            }
        }
        return NONE;
    }

    /** Whether a block of a block's segment may be leased. */
    boolean isLeased(int unit, long now) {
        return leasedUntil[of(unit)] > now;
    }

    /** Whether a unit is the first of a block that was cut. @param unit any */
    boolean hasBlock(int unit) {
        if (unit < firstUnit || of(unit) >= segments) {
            return false;
        }
        int segment = of(unit);
        int ofSize = sizeClass[segment];
        int inSegment = unit - firstUnit(segment);
        return ofSize != OF_NO_CLASS
                && inSegment % SizeClasses.units(ofSize) == 0
                && inSegment / SizeClasses.units(ofSize) < cut[segment];
    }

    /** How many blocks of a segment were handed out since it got its class; block n of them is {@link #unit}. */
    int cut(int segment) {
        return sizeClass[segment] == OF_NO_CLASS ? 0 : cut[segment];
    }

    int unit(int segment, int block) {
        return firstUnit(segment) + block * SizeClasses.units(sizeClass[segment]);
    }

    /** How many segments have no class. */
    int empties() {
        return empties;
    }

    /** How many blocks of a segment, of those handed out since it got its class, are in its list of free ones. */
    int freeBlocks(int segment) {
        int free = 0;
        int most = cut(segment);
        for (int unit = most == 0 ? NO_BLOCK : freed[segment]; unit != NO_BLOCK && free <= most; free++) {
            unit = (int) LeasedBlock.link(memory, offset(unit));
        }
        return free;
    }

    /** How many segments there are. */
    int count() {
        return segments;
    }

    /** Whether a class has a free block, or can get a segment. */
    boolean has(int ofSize) {
        return first[ofSize] != NONE || empties > 0;
    }

    /**
     * Counts again which blocks are free: all that {@link #retake} does not name. Segments keep their classes unless
     * none of their blocks is named; none is closing.
     */
    void freeAll() {
        Arrays.fill(first, NONE);
        Arrays.fill(closing, false);
        closings = 0;
        Arrays.fill(leasedUntil, 0);
        Arrays.fill(reserved, 0);
        Arrays.fill(inUse, 0);
        empties = 0;
    }

    /** Of a block that is in use, and leased until then, between {@link #freeAll} and {@link #listAll}. */
    void retake(int unit, long leased) {
        inUse[of(unit)]++;
        leased(unit, leased);
    }

    /** Ends what {@link #freeAll} began. */
    void listAll(UsedBlocks used) {
        for (int segment = segments - 1; segment >= 0; segment--) {
            if (sizeClass[segment] == OF_NO_CLASS || inUse[segment] == 0) {
                sizeClass[segment] = OF_NO_CLASS;
                empty[empties++] = segment;
                continue;
            }
            cut[segment] = blocks(sizeClass[segment]);
            freed[segment] = NO_BLOCK;
            for (int block = cut[segment] - 1; block >= 0; block--) {
                int unit = unit(segment, block);
                if (!used.contains(unit)) {
                    LeasedBlock.setMark(memory, offset(unit), LeasedBlock.mark(0, LeasedBlock.DEAD));
                    LeasedBlock.setLink(memory, offset(unit), freed[segment]);
                    freed[segment] = unit;
                }
            }
            if (!isFull(segment)) {
                list(segment, sizeClass[segment]);
            }
        }
    }

    /** Says which blocks are in use. */
    interface UsedBlocks {
        boolean contains(int unit);
    }
}
