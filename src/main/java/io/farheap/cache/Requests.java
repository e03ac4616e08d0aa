package io.farheap.cache;

import java.util.Arrays;

/** A table of requests with a list of its free places. */
class Requests extends RequestTable {

    static final int NONE = -1;

    private final int[] free;
    private int freeCount;

    Requests(int capacity) {
        super(capacity);
        free = new int[capacity];
        for (int place = capacity - 1; place >= 0; place--) {
            free[freeCount++] = place;
        }
    }

    /** @return a free place, or {@link #NONE} */
    final int take() {
        return freeCount == 0 ? NONE : free[--freeCount];
    }

    final void give(int place) {
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
        boolean[] pending = new boolean[free.length];
        Arrays.fill(pending, true);
        for (int i = 0; i < freeCount; i++) {
            pending[free[i]] = false;
        }
        for (int place = 0; place < pending.length; place++) {
            if (pending[place] && buffer[place] == candidate) {
                return true;
            }
        }
        return false;
    }
}
