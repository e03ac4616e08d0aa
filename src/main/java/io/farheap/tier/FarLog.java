package io.farheap.tier;

import io.farheap.tier.handle.HighWaterMark;
import io.farheap.tier.handle.PendingAppends;
import io.farheap.tier.handle.PendingAppendsList;

/**
 * Maps the log of a {@link FarDevice} to places in its cache: a place is the address modulo the capacity, so an append
 * beyond the capacity overwrites the oldest part. {@link #begin} moves first, then the place is written. Any thread.
 */
final class FarLog {

    private final long segments;
    /** {@code segments - 1} if {@code segments} is a power of two, otherwise 0. */
    private final long segmentMask;

    private final int segmentShift;
    private final long offsetMask;
    private final HighWaterMark begin = new HighWaterMark(0);
    private final HighWaterMark end = new HighWaterMark(0);
    private final PendingAppendsList appends = new PendingAppendsList();

    /** @param segmentBytes a power of two */
    FarLog(long segments, long segmentBytes) {
        this.segments = segments;
        this.segmentMask = Long.bitCount(segments) == 1 ? segments - 1 : 0;
        this.segmentShift = Long.numberOfTrailingZeros(segmentBytes);
        this.offsetMask = segmentBytes - 1;
    }

    long capacity() {
        return segments << segmentShift;
    }

    long begin() {
        return begin.get();
    }

    long end() {
        return end.get();
    }

    void truncate(long below) {
        begin.raise(below);
    }

    /** The place of an address in the cache. */
    long place(long address) {
        long segment = address >>> segmentShift;
        long slot = segmentMask != 0 || segments == 1 ? segment & segmentMask : segment % segments;
        return (slot << segmentShift) + (address & offsetMask);
    }

    /**
     * Drops the part of the log that an append up to an address will overwrite.
     *
     * @return whether no older append is on its way to that place; if one is, call again later
     */
    boolean makeRoom(long to) {
        long first = to - capacity();
        if (first <= 0) {
            return true;
        }
        begin.raise(first);
        return appends.lowest() >= first;
    }

    void wrote(long to) {
        end.raise(to);
    }

    /** Adds a handle's pending appends, which other threads read. */
    void began(PendingAppends ofHandle) {
        appends.add(ofHandle);
    }

    void ended(PendingAppends ofHandle) {
        appends.remove(ofHandle);
    }
}
