package io.farheap.cache;

import io.farheap.connection.Connection;

/**
 * Completions that a migration took from a session's completion queue; the session's thread handles them before others.
 */
final class StashedCompletions {

    private final long[] ids;
    private final int[] statuses;
    private int count;

    /** @param capacity the completion queue's entries */
    StashedCompletions(int capacity) {
        ids = new long[capacity];
        statuses = new int[capacity];
    }

    void add(long id, int status) {
        ids[count] = id;
        statuses[count++] = status;
    }

    boolean contains(long id) {
        for (int i = 0; i < count; i++) {
            if (ids[i] == id) {
                return true;
            }
        }
        return false;
    }

    /** Whether there is one of a connection. */
    boolean anyOf(int connection) {
        for (int i = 0; i < count; i++) {
            if (Connection.connectionOf(ids[i]) == connection) {
                return true;
            }
        }
        return false;
    }

    int count() {
        return count;
    }

    long id(int i) {
        return ids[i];
    }

    int status(int i) {
        return statuses[i];
    }

    void clear() {
        count = 0;
    }
}
