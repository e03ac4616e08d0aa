package io.farheap.tier;

import io.farheap.tier.handle.HighWaterMark;
import io.farheap.tier.handle.PendingAppends;
import io.farheap.tier.handle.PendingAppendsList;

/**
 * Where the log of a {@link FarDevice} is in its cache: addresses modulo the capacity, so what is appended beyond that
 * takes the place of the oldest part. First {@link #begin} moves, then the place is written. Any thread.
 */
final class FarLog {

    private final long segments;
    /** Of {@code segments}, where these are a power of two; else 0. */
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

    /** In the cache. */
    long place(long address) {
        long segment = address >>> segmentShift;
        long slot = segmentMask != 0 || segments == 1 ? segment & segmentMask : segment % segments;
        return (slot << segmentShift) + (address & offsetMask);
    }

    /**
     * Gives up what an append up to an address takes the place of.
     *
     * @return whether nothing is on its way there; ask again where something is
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

    /** A handle begins, whose appends others see there. */
    void began(PendingAppends ofHandle) {
        appends.add(ofHandle);
    }

    void ended(PendingAppends ofHandle) {
        appends.remove(ofHandle);
    }
}
