package io.farheap.remote.queue;

import io.farheap.connection.Connection;
import io.farheap.verbs.WcStatus;

/**
 * Completions that another thread than the owner has taken, in order, until the owner polls. A ring with as many places
 * as the completion queue.
 */
final class CompletionStash {

    private final long[] ids;
    private final int[] statuses;
    private int first;
    private int count;

    /** @param capacity the most completions that may be outstanding at once */
    CompletionStash(int capacity) {
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
        return indexOf(id) >= 0;
    }

    /** Whether it contains the successful completion of the operation with an id. */
    boolean containsDone(long id) {
        int at = indexOf(id);
        return at >= 0 && statuses[at] == WcStatus.SUCCESS;
    }

    private int indexOf(long id) {
        for (int i = 0; i < count; i++) {
            int at = (first + i) % ids.length;
            if (ids[at] == id) {
                return at;
            }
        }
        return -1;
    }

    /** Whether it contains a completion of a connection. */
    boolean anyOf(int connection) {
        for (int i = 0; i < count; i++) {
            if (Connection.connectionOf(ids[(first + i) % ids.length]) == connection) {
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
