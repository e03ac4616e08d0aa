package io.farheap.remote;

/**
 * Completions that others than the owner have taken, in order, until the owner polls. A ring: as many as the completion
 * queue holds.
 */
final class Stash {

    private final long[] ids;
    private final int[] statuses;
    private int first;
    private int count;

    /** @param capacity completions that may be out at once */
    Stash(int capacity) {
        ids = new long[capacity];
        statuses = new int[capacity];
    }

    void add(long id, int status) {
        int at = (first + count) % ids.length;
        ids[at] = id;
        statuses[at] = status;
        count++;
    }

    int count() {
        return count;
    }

    boolean contains(long id) {
        for (int i = 0; i < count; i++) {
            if (ids[(first + i) % ids.length] == id) {
                return true;
            }
        }
        return false;
    }

    long firstId() {
        return ids[first];
    }

    int firstStatus() {
        return statuses[first];
    }

    void removeFirst() {
        first = (first + 1) % ids.length;
        count--;
    }
}
