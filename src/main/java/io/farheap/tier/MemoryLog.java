package io.farheap.tier;

import io.farheap.tier.handle.HighWaterMark;
import io.farheap.tier.handle.OwnedMemory;
import io.farheap.tier.handle.SegmentTable;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The segments of a {@link MemoryDevice}: each is allocated when it is first appended to, and freed when the log's
 * beginning has passed it. Any thread; a copy to or from a segment that is freed meanwhile throws
 * {@link IllegalStateException}.
 */
final class MemoryLog {

    private final long segmentBytes;
    private final long capacity;
    private final SegmentTable<Piece> pieces = new SegmentTable<>();
    private final HighWaterMark begin = new HighWaterMark(0);
    private final HighWaterMark end = new HighWaterMark(0);

    /** A segment of the log. */
    private record Piece(Arena arena, MemorySegment memory) {}

    MemoryLog(long segmentBytes, long capacity) {
        this.segmentBytes = segmentBytes;
        this.capacity = capacity;
    }

    long capacity() {
        return capacity;
    }

    long begin() {
        return begin.get();
    }

    long end() {
        return end.get();
    }

    void truncate(long below) {
        if (begin.raise(below)) {
            free(pieces.removeBelow(begin.get() / segmentBytes));
        }
    }

    /** The segment of an address, or null if nothing was appended to it. */
    @Nullable
    MemorySegment find(long address) {
        Piece piece = pieces.get(address / segmentBytes);
        return piece == null ? null : piece.memory;
    }

    /** The segment for an append; the part of the log that exceeds the capacity then is dropped. */
    MemorySegment make(long address, long length) {
        truncate(address + length - capacity);
        MemorySegment there = find(address);
        return there != null ? there : pieces.getOrAdd(address / segmentBytes, this::allocate).memory;
    }

    private Piece allocate(long segment) {
        Arena arena = Arena.ofShared();
        return new Piece(arena, arena.allocate(segmentBytes, OwnedMemory.PAGE_BYTES));
    }

    /** The offset of an address in its segment. */
    long place(long address) {
        return address & segmentBytes - 1;
    }

    void wrote(long to) {
        end.raise(to);
    }

    /** Frees all segments, which no handle uses any more. */
    void free() {
        free(pieces.removeBelow(Long.MAX_VALUE));
    }

    private static void free(List<Piece> gone) {
        gone.forEach(piece -> piece.arena.close());
    }
}
