package io.farheap.cache;

import java.util.Arrays;
import java.util.function.IntPredicate;

/** A table of requests with a list of its free places. */
class Requests extends RequestTable {

    static final int NONE = -1;

    /** Kinds of an atomic. */
    static final byte NO_ATOMIC = 0;

    static final byte SWAP = 1;
    static final byte ADD = 2;

    /** What an atomic does, with what; the others are reads and writes. */
    final byte[] atomic;

    final long[] compareOrAdd;
    final long[] value;

    private final int[] free;
    private int freeCount;
    /** Which places are not free, for whoever looks at all of them. */
    private final boolean[] pending;

    Requests(int capacity) {
        super(capacity);
        pending = new boolean[capacity];
        atomic = new byte[capacity];
        compareOrAdd = new long[capacity];
        value = new long[capacity];
        free = new int[capacity];
        for (int place = capacity - 1; place >= 0; place--) {
            free[freeCount++] = place;
        }
    }

    /** @return a free place, or {@link #NONE} */
    final int take() {
        return freeCount == 0 ? NONE : free[--freeCount];
    }

    final void fillAtomic(int place, boolean swap, long comparedOrAdded, long stored) {
        atomic[place] = swap ? SWAP : ADD;
        compareOrAdd[place] = comparedOrAdded;
        value[place] = stored;
    }

    final void give(int place) {
        if (atomic[place] != NO_ATOMIC) {
            atomic[place] = NO_ATOMIC;
        }
        if (segment[place] != null) {
            segment[place] = null;
        }
        free[freeCount++] = place;
    }

    final int capacity() {
        return free.length;
    }

    final int room() {
        return freeCount;
    }

    /** Requests between issue and callback. */
    final int pending() {
        return free.length - freeCount;
    }

    /** Whether a request uses a buffer. It looks at all of them, and allocates. */
    final boolean uses(Buffer candidate) {
        return any(place -> buffer[place] == candidate);
    }

    /** Whether a request goes beyond an address. It looks at all of them, and allocates. */
    final boolean reaches(long end) {
        return any(place -> end(place) > end);
    }

    private boolean any(IntPredicate wanted) {
        markPending();
        for (int place = 0; place < pending.length; place++) {
            if (pending[place] && wanted.test(place)) {
                return true;
            }
        }
        return false;
    }

    /** Whether a request overlaps a range, and one of the two writes. It looks at all of them. */
    final boolean conflict(boolean isWrite, long at, long bytes) {
        if (pending() == 0) {
            return false;
        }
        markPending();
        for (int place = 0; place < pending.length; place++) {
            if (pending[place] && (isWrite || write[place]) && overlaps(place, at, bytes)) {
                return true;
            }
        }
        return false;
    }

    private void markPending() {
        Arrays.fill(pending, true);
        for (int i = 0; i < freeCount; i++) {
            pending[free[i]] = false;
        }
    }
}
