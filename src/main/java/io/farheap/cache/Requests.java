package io.farheap.cache;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/**
 * A session's requests, as columns: a request is an index from issue to callback. One thread at a time; nothing here allocates
 * after construction.
 */
final class Requests {

    static final int NONE = -1;

    final boolean[] write;
    /** Where in the cache, and how long. */
    final long[] address;
    final long[] length;
    /** How much of it has been posted. */
    final long[] posted;
    /** Work requests in flight. */
    final int[] outstanding;
    final int[] status;
    /** Its place in the order of issue. */
    final long[] sequence;
    /** How many requests its time stands for; 0 where it is not timed. */
    final int[] timed;
    final long[] issuedAt;
    final long[] token;
    final Completion[] completion;
    /** The registered buffer and the address in it, or the segment that goes through bounce buffers. */
    final Buffer[] buffer;
    final long[] local;
    final MemorySegment[] segment;

    private final int[] free;
    private int freeCount;
    private int pending;

    Requests(int capacity) {
        write = new boolean[capacity];
        address = new long[capacity];
        length = new long[capacity];
        posted = new long[capacity];
        outstanding = new int[capacity];
        status = new int[capacity];
        sequence = new long[capacity];
        timed = new int[capacity];
        issuedAt = new long[capacity];
        token = new long[capacity];
        completion = new Completion[capacity];
        buffer = new Buffer[capacity];
        local = new long[capacity];
        segment = new MemorySegment[capacity];
        free = new int[capacity];
        for (int request = capacity - 1; request >= 0; request--) {
            free[freeCount++] = request;
        }
    }

    /** @return a free request, or {@link #NONE} */
    int take() {
        if (freeCount == 0) {
            return NONE;
        }
        pending++;
        return free[--freeCount];
    }

    /** The callback and the buffer stay until the next request in this place has others: storing a reference is not free. */
    void give(int request) {
        if (segment[request] != null) {
            segment[request] = null;
        }
        free[freeCount++] = request;
        pending--;
    }

    void completion(int request, Completion value) {
        if (completion[request] != value) {
            completion[request] = value;
        }
    }

    void buffer(int request, Buffer value) {
        if (buffer[request] != value) {
            buffer[request] = value;
        }
    }

    int capacity() {
        return free.length;
    }

    /** Requests between issue and callback. */
    int pending() {
        return pending;
    }

    boolean fullyPosted(int request) {
        return posted[request] == length[request];
    }

    boolean done(int request) {
        return outstanding[request] == 0 && fullyPosted(request);
    }

    boolean overlaps(int request, long otherAddress, long otherLength) {
        return address[request] < otherAddress + otherLength && otherAddress < address[request] + length[request];
    }

    boolean uses(Buffer candidate) {
        boolean[] pending = new boolean[free.length];
        Arrays.fill(pending, true);
        for (int i = 0; i < freeCount; i++) {
            pending[free[i]] = false;
        }
        for (int request = 0; request < pending.length; request++) {
            if (pending[request] && buffer[request] == candidate) {
                return true;
            }
        }
        return false;
    }
}
