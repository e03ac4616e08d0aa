package io.farheap.kv.service;

import io.farheap.kv.format.BlockFormat;
import io.farheap.kv.format.SizeClasses;
import io.farheap.kv.format.SlotWord;
import io.farheap.kv.format.SpaceShape;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.BitSet;
import org.jspecify.annotations.Nullable;

/**
 * The segments of one region: the class of each, which of their blocks are in the pools and, during a sweep, which
 * blocks may be lost. There is a bit for each unit of 64 bytes; a block's bit is that of its first unit. One thread at
 * a time.
 *
 * <p>A client chooses how large a region is. Therefore nothing is allocated for segments that have not been handed out.
 * If each block is a segment of its own, a segment of 64 bytes takes 3 bytes and two bits here, and the arrays have
 * room for as much again.
 */
final class RegionBlocks {

    static final int NONE = -1;

    /** Stands in place of a class + 1: all blocks are in the pool, and the segment waits to change its class. */
    private static final byte RETIRED = -1;

    private static final int LEAST_ROOM = 64;

    private final int index;
    private final int region;
    private final SpaceShape shape;
    private final long segmentsAt;
    private final int segmentUnits;
    private final int segments;
    /** Whether each segment is one block. */
    private final boolean single;

    // Arrays by segment have room for the segments that have been handed out, and arrays by unit for the units of
    // these.

    /** The class + 1 of each segment that has been handed out. */
    private byte[] classes = {};

    /** A bit for each block that is in a pool, or worn out. */
    private long[] pooled = {};

    /**
     * By segment: how many of its blocks are pooled, and how many of these are not worn out. Not used for single ones,
     * whose bits say it.
     */
    private int[] pooledCount = {};

    private int[] usableCount = {};
    /** By segment with blocks in a pool: by block, the incarnation of its next use. Not used for single ones. */
    private char[] @Nullable [] incarnations = {};

    /** For single ones: by segment, the incarnation of its block's next use if it is in a pool; else 0. */
    private char[] incarnation = {};

    private long @Nullable [] suspects;
    /** Segments that are being emptied. */
    private final BitSet emptying = new BitSet();

    private int handedOut;

    /**
     * @param index in the server's space
     * @param region its number in the map
     * @param table whether it has a part of the table
     */
    RegionBlocks(int index, int region, SpaceShape shape, boolean table) {
        this.index = index;
        this.region = region;
        this.shape = shape;
        segmentsAt = shape.segmentsAt(table) / BlockFormat.UNIT_BYTES;
        segmentUnits = shape.segmentBytes() / BlockFormat.UNIT_BYTES;
        segments = Math.toIntExact(shape.segments(table));
        single = segmentUnits == 1;
    }

    int index() {
        return index;
    }

    int number() {
        return region;
    }

    private void makeRoom(int count) {
        if (count <= classes.length) {
            return;
        }
        int room = (int) Math.min(segments, Math.max(LEAST_ROOM, 2L * count));
        classes = Arrays.copyOf(classes, room);
        pooled = Arrays.copyOf(pooled, Math.ceilDiv(firstUnit(room), Long.SIZE));
        if (single) {
            incarnation = Arrays.copyOf(incarnation, room);
        } else {
            pooledCount = Arrays.copyOf(pooledCount, room);
            usableCount = Arrays.copyOf(usableCount, room);
            incarnations = Arrays.copyOf(incarnations, room);
        }
    }

    int left() {
        return segments - handedOut;
    }

    int handedOut() {
        return handedOut;
    }

    /**
     * Hands out segments that are adjacent.
     *
     * @return the place of the first
     */
    long handOut(int sizeClass, int count) {
        makeRoom(handedOut + count);
        long unit = segmentsAt + (long) handedOut * segmentUnits;
        for (int i = 0; i < count; i++) {
            classes[handedOut++] = (byte) (sizeClass + 1);
        }
        return shape.place(region, unit * BlockFormat.UNIT_BYTES);
    }

    int unit(long place) {
        return (int) (place & (1L << shape.placeShift()) - 1);
    }

    long place(int unit) {
        return shape.place(region, (long) unit * BlockFormat.UNIT_BYTES);
    }

    /**
     * The class of the block that begins at a unit.
     *
     * @return {@link #NONE} if none begins there
     */
    int classAt(int unit) {
        long behind = unit - segmentsAt;
        if (behind < 0 || behind / segmentUnits >= handedOut || classes[(int) (behind / segmentUnits)] <= 0) {
            return NONE;
        }
        int sizeClass = classes[(int) (behind / segmentUnits)] - 1;
        int units = SizeClasses.units(sizeClass);
        int within = (int) (behind % segmentUnits);
        return within % units == 0 && within + units <= segmentUnits ? sizeClass : NONE;
    }

    boolean isPooled(int unit) {
        return get(pooled, unit);
    }

    int segmentOf(int unit) {
        return (int) ((unit - segmentsAt) / segmentUnits);
    }

    private int firstUnit(int segment) {
        return (int) (segmentsAt + (long) segment * segmentUnits);
    }

    private int blocksOf(int segment) {
        return segmentUnits / SizeClasses.units(classes[segment] - 1);
    }

    /**
     * Adds a block to its segment's pool.
     *
     * @param incarnation of its next use; 0 if none is left
     * @return whether it is the first of its segment that can be used
     */
    boolean addPooled(int unit, int incarnation) {
        int segment = segmentOf(unit);
        pooled[unit >>> 6] |= 1L << unit;
        if (single) {
            this.incarnation[segment] = (char) incarnation;
            return incarnation != 0;
        }
        pooledCount[segment]++;
        if (incarnation == 0) {
            return false;
        }
        char[] next = incarnations[segment];
        if (next == null) {
            next = new char[blocksOf(segment)];
            incarnations[segment] = next;
        }
        next[(unit - firstUnit(segment)) / SizeClasses.units(classes[segment] - 1)] = (char) incarnation;
        return usableCount[segment]++ == 0;
    }

    /** Blocks of a segment that can be taken. */
    int usable(int segment) {
        if (single) {
            return incarnation[segment] != 0 ? 1 : 0;
        }
        return usableCount[segment];
    }

    private int pooled(int segment) {
        if (single) {
            return get(pooled, firstUnit(segment)) ? 1 : 0;
        }
        return pooledCount[segment];
    }

    /**
     * Takes blocks of a segment out of the pool.
     *
     * @param most of them
     * @return how many
     */
    int takePooled(int segment, int most, long[] words, int at) {
        if (single) {
            return takeSingle(segment, most, words, at);
        }
        char[] next = incarnations[segment];
        int n = 0;
        int units = SizeClasses.units(classes[segment] - 1);
        for (int i = 0; next != null && i < next.length && n < most; i++) {
            if (next[i] != 0) {
                int unit = firstUnit(segment) + i * units;
                words[at + n++] = SlotWord.live(place(unit), next[i], 0, units);
                next[i] = 0;
                pooled[unit >>> 6] &= ~(1L << unit);
            }
        }
        pooledCount[segment] -= n;
        usableCount[segment] -= n;
        if (usableCount[segment] == 0) {
            incarnations[segment] = null;
        }
        return n;
    }

    private int takeSingle(int segment, int most, long[] words, int at) {
        if (incarnation[segment] == 0 || most < 1) {
            return 0;
        }
        int unit = firstUnit(segment);
        words[at] = SlotWord.live(place(unit), incarnation[segment], 0, 1);
        incarnation[segment] = 0;
        pooled[unit >>> 6] &= ~(1L << unit);
        return 1;
    }

    /** Whether all blocks of a segment are in the pool or worn out. */
    boolean full(int segment) {
        return classes[segment] > 0 && pooled(segment) == blocksOf(segment);
    }

    int classOf(int segment) {
        return classes[segment] - 1;
    }

    int blocks(int segment) {
        return blocksOf(segment);
    }

    /**
     * The number of a segment's blocks that are not in a pool and not worn out: a slot names them, a process holds
     * them, or they are lost.
     */
    int out(int segment) {
        return blocksOf(segment) - pooled(segment);
    }

    /** Blocks of a segment that are worn out. */
    int worn(int segment) {
        return pooled(segment) - usable(segment);
    }

    /** Whether a segment has a class now. */
    boolean inUse(int segment) {
        return classes[segment] > 0;
    }

    boolean isEmptying(int segment) {
        return emptying.get(segment);
    }

    void setEmptying(int segment, boolean is) {
        emptying.set(segment, is);
    }

    /** The place of a segment's first unit. */
    long placeOf(int segment) {
        return place(firstUnit(segment));
    }

    /** The unit of one of a segment's blocks. */
    int unitOf(int segment, int block) {
        return firstUnit(segment) + block * SizeClasses.units(classes[segment] - 1);
    }

    /** Retires a full segment: its blocks no longer exist. */
    void retire(int segment) {
        emptying.clear(segment);
        classes[segment] = RETIRED;
    }

    /** A segment that was retired is of a class again, with none of its blocks in a pool. */
    void reuse(int segment, int sizeClass, MemorySegment memory) {
        int first = firstUnit(segment);
        for (int unit = first; unit < first + segmentUnits; unit++) {
            pooled[unit >>> 6] &= ~(1L << unit);
        }
        if (single) {
            incarnation[segment] = 0;
        } else {
            pooledCount[segment] = 0;
            usableCount[segment] = 0;
            incarnations[segment] = null;
        }
        classes[segment] = (byte) (sizeClass + 1);
        // Zeroes it, so that incarnations begin again.
        memory.asSlice((long) first * BlockFormat.UNIT_BYTES, shape.segmentBytes())
                .fill((byte) 0);
    }

    /**
     * Makes all blocks of a segment suspects, except those in the pools, until they are seen elsewhere.
     *
     * @return how many blocks the segment has
     */
    int suspect(int segment) {
        if (classes[segment] <= 0) {
            return 0;
        }
        long[] bits = suspects;
        if (bits == null || bits.length < pooled.length) {
            // More segments may have been handed out meanwhile.
            bits = bits == null ? new long[pooled.length] : Arrays.copyOf(bits, pooled.length);
            suspects = bits;
        }
        int units = SizeClasses.units(classes[segment] - 1);
        int blocks = segmentUnits / units;
        int unit = (int) (segmentsAt + (long) segment * segmentUnits);
        for (int i = 0; i < blocks; i++, unit += units) {
            if (!get(pooled, unit)) {
                bits[unit >>> 6] |= 1L << unit;
            }
        }
        return blocks;
    }

    boolean isSuspect(int unit) {
        long[] bits = suspects;
        return bits != null && get(bits, unit);
    }

    /** @return whether it was suspected */
    boolean clear(int unit) {
        long[] bits = suspects;
        if (bits == null || !get(bits, unit)) {
            return false;
        }
        bits[unit >>> 6] &= ~(1L << unit);
        return true;
    }

    /**
     * Finds the next suspect.
     *
     * @param most words of bits that are looked at
     * @return its unit; if none was found, -1 less the unit to continue from; {@link Integer#MIN_VALUE} at the end
     */
    int nextSuspect(int from, int most) {
        long[] bits = suspects;
        if (bits == null) {
            return Integer.MIN_VALUE;
        }
        int word = from >>> 6;
        if (word >= bits.length) {
            return Integer.MIN_VALUE;
        }
        long left = bits[word] & -1L << from;
        for (int looked = 0; left == 0; looked++) {
            if (++word == bits.length) {
                return Integer.MIN_VALUE;
            }
            if (looked == most) {
                return -1 - (word << 6);
            }
            left = bits[word];
        }
        return (word << 6) + Long.numberOfTrailingZeros(left);
    }

    void forgetSuspects() {
        suspects = null;
    }

    /** @param bits which may end before the unit, if that was handed out later */
    private static boolean get(long[] bits, int unit) {
        return unit >>> 6 < bits.length && (bits[unit >>> 6] >>> unit & 1) != 0;
    }
}
