package io.farheap.kv.service;

import io.farheap.kv.BlockFormat;
import io.farheap.kv.SizeClasses;
import io.farheap.kv.SpaceShape;
import org.jspecify.annotations.Nullable;

/**
 * The segments of one region: of which class each is, which of their blocks are in the pools, and during a collection
 * which may be lost. A bit for each unit of 64 bytes; a block's is that of its first. One thread at a time.
 */
final class RegionBlocks {

    static final int NONE = -1;

    private final int region;
    private final SpaceShape shape;
    private final long segmentsAt;
    private final int segmentUnits;
    private final int segments;
    /** Of each that has been handed out its class + 1. */
    private final byte[] classes;

    private final long[] pooled;
    private long @Nullable [] suspects;
    private int handedOut;

    /** @param region its number in the map */
    RegionBlocks(int region, SpaceShape shape) {
        this.region = region;
        this.shape = shape;
        segmentsAt = shape.segmentsAt(region) / BlockFormat.UNIT_BYTES;
        segmentUnits = shape.segmentBytes() / BlockFormat.UNIT_BYTES;
        segments = Math.toIntExact(shape.segments(region));
        classes = new byte[segments];
        pooled = new long[words()];
    }

    private int words() {
        return Math.toIntExact(Math.ceilDiv(shape.regionBytes() / BlockFormat.UNIT_BYTES, Long.SIZE));
    }

    int left() {
        return segments - handedOut;
    }

    int handedOut() {
        return handedOut;
    }

    /**
     * Hands segments out that lie together.
     *
     * @return the place of the first
     */
    long handOut(int sizeClass, int count) {
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
     * @return {@link #NONE} where none begins there
     */
    int classAt(int unit) {
        long behind = unit - segmentsAt;
        if (behind < 0 || behind / segmentUnits >= handedOut) {
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

    void setPooled(int unit, boolean is) {
        if (is) {
            pooled[unit >>> 6] |= 1L << unit;
        } else {
            pooled[unit >>> 6] &= ~(1L << unit);
        }
    }

    /**
     * All blocks of a segment but those in the pools may be lost, until they are seen elsewhere.
     *
     * @return how many blocks the segment has
     */
    int suspect(int segment) {
        long[] bits = suspects;
        if (bits == null) {
            bits = new long[words()];
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
     * The next suspect.
     *
     * @param most words of bits that are looked at
     * @return its unit; or where none was found, -1 less the unit to go on from; {@link Integer#MIN_VALUE} at the end
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

    private static boolean get(long[] bits, int unit) {
        return (bits[unit >>> 6] >>> unit & 1) != 0;
    }
}
