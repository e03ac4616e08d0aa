package io.farheap.soak;

import io.farheap.cache.Buffer;
import java.lang.foreign.MemorySegment;

/** A request and the memory that it uses, again and again: records of one length, one or several, all in one part. */
final class SoakRequest {

    static final int MAX_BYTES = 128 << 10;
    static final int MAX_RECORDS = 16;

    /** Where its data is in the worker's buffer, and on the heap. */
    final long offset;

    final Buffer buffer;
    final MemorySegment heap = MemorySegment.ofArray(new byte[MAX_BYTES]);

    boolean write;
    /** Chosen before the request is issued, again and again. */
    @SuppressWarnings("NullAway.Init")
    CachePart part;

    /** In the cache. */
    final long[] addresses = new long[MAX_RECORDS];

    int count;
    int length;
    boolean onHeap;

    /** What a read of a piece must return. */
    byte[] expected = {};
    /** What a read of a word returns at least, and what a write of one writes. */
    long known;

    long value;

    boolean pending;
    /** By System.nanoTime(). */
    long issuedAt;

    int status;

    SoakRequest(Buffer buffer, long offset) {
        this.buffer = buffer;
        this.offset = offset;
    }

    /** Makes it one of all of a part, of one record. */
    void all(CachePart whole, boolean isWrite) {
        part = whole;
        write = isWrite;
        count = 1;
        addresses[0] = whole.address();
        length = whole.bytes();
    }

    int bytes() {
        return count * length;
    }

    /** Where a record is in its part. */
    int at(int record) {
        return (int) (addresses[record] - part.address());
    }

    /** Its data, wherever that is. */
    MemorySegment data() {
        return onHeap ? heap.asSlice(0, bytes()) : buffer.segment().asSlice(offset, bytes());
    }

    @Override
    public String toString() {
        return (write ? "write of " : "read of ") + (count > 1 ? count + " records of " : "") + length
                + " bytes at address " + addresses[0] + (onHeap ? ", on the heap" : "");
    }
}
