package io.farheap.kv.leased.client;

import io.farheap.kv.leased.format.ReportRing;
import java.util.BitSet;

/**
 * Which parts of an area are taken. Values on their way have chunks, one beside another, from the first on. Rings of
 * reports stay for as long as the area, so they are close together at its end and cut it nowhere; only some of it is
 * theirs. Its user guards it.
 */
final class AreaChunks {

    /** Nothing was taken. */
    static final long NONE = -1;

    /** Values have multiples of this. */
    private static final int CHUNK_BYTES = 64 << 10;
    /** From one ring to the next: a multiple of 1 KiB. */
    private static final int RING_BYTES = ReportRing.BYTES + 1023 & -1024;
    /** One in so many chunks is for rings, and at least one. */
    private static final int RING_SHARE = 16;

    private final int count;
    private final BitSet taken;
    private int rings;
    private int ringChunks;

    /** @param bytes of the area */
    AreaChunks(long bytes) {
        count = (int) (bytes / CHUNK_BYTES);
        taken = new BitSet(count);
    }

    private static int chunks(int bytes) {
        return Math.ceilDiv(bytes, CHUNK_BYTES);
    }

    /** Whether there is room for a value if no other one is there. */
    boolean mayHold(int bytes) {
        return chunks(bytes) <= count - ringChunks;
    }

    /** Takes room for a value. @return its offset, or {@link #NONE} */
    long take(int bytes) {
        int chunks = chunks(bytes);
        for (int from = taken.nextClearBit(0); from + chunks <= count; ) {
            int end = taken.nextSetBit(from);
            if (end < 0 || end - from >= chunks) {
                taken.set(from, from + chunks);
                return (long) from * CHUNK_BYTES;
            }
            from = taken.nextClearBit(end);
        }
        return NONE;
    }

    /** Gives the room of a value back. */
    void give(long at, int bytes) {
        int from = (int) (at / CHUNK_BYTES);
        taken.clear(from, from + chunks(bytes));
    }

    /** Takes room for a ring, for as long as the area is there. @return its offset, or {@link #NONE} */
    long takeRing() {
        long at = (long) count * CHUNK_BYTES - (rings + 1L) * RING_BYTES;
        int first = (int) (at / CHUNK_BYTES);
        if (at < 0 || count - first > Math.max(1, count / RING_SHARE)) {
            return NONE;
        }
        for (int chunk = first; chunk < count - ringChunks; chunk++) {
            if (taken.get(chunk)) {
                return NONE;
            }
        }
        taken.set(first, count);
        ringChunks = count - first;
        rings++;
        return at;
    }
}
