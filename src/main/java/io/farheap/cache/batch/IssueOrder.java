package io.farheap.cache.batch;

import io.farheap.cache.route.BatchLane;
import org.jspecify.annotations.Nullable;

/**
 * The order of issue over the paths that a session's requests take: a queue of runs, each of consecutive requests that
 * took the same path (the one-sided one, or the batches to one server). Callbacks come run by run. One thread at a
 * time; allocates only when it grows.
 */
final class IssueOrder {

    private @Nullable BatchLane[] lanes;
    private long[] counts;
    private int mask;
    private int head;
    private int tail;

    /** @param capacity a power of two */
    IssueOrder(int capacity) {
        lanes = new BatchLane[capacity];
        counts = new long[capacity];
        mask = capacity - 1;
    }

    boolean isEmpty() {
        return head == tail;
    }

    /** The requests issued last took a lane. */
    void add(BatchLane lane, int requests) {
        int last = tail - 1 & mask;
        if (head != tail && lanes[last] == lane) {
            counts[last] += requests;
        } else {
            append(lane, requests);
        }
    }

    /** Requests up to a sequence number of the engine's, exclusive, took the one-sided path. */
    void direct(long end) {
        int last = tail - 1 & mask;
        if (head != tail && lanes[last] == null) {
            counts[last] = end;
        } else {
            append(null, end);
        }
    }

    /** Removes the request that was added last, which takes another path, if it took this lane. */
    boolean withdraw(BatchLane lane) {
        int last = tail - 1 & mask;
        if (head == tail || lanes[last] != lane) {
            return false;
        }
        if (--counts[last] == 0) {
            lanes[last] = null;
            tail--;
        }
        return true;
    }

    /** How many runs there are. */
    int runs() {
        return tail - head;
    }

    /** As {@link #lane()}, of the run behind {@code i} others. */
    @Nullable
    BatchLane lane(int i) {
        return lanes[head + i & mask];
    }

    /** As {@link #count()}, of the run behind {@code i} others. */
    long count(int i) {
        return counts[head + i & mask];
    }

    /** The lane of the oldest run; null for a one-sided one. */
    @Nullable
    BatchLane lane() {
        return lanes[head & mask];
    }

    /** The requests left in the oldest run; for a one-sided run, the engine's sequence number at its end. */
    long count() {
        return counts[head & mask];
    }

    /** Requests of the oldest run, which is not a one-sided one, have been called back. */
    void take(int requests) {
        counts[head & mask] -= requests;
        if (counts[head & mask] == 0) {
            next();
        }
    }

    /** Removes the oldest run, which has ended. */
    void next() {
        lanes[head & mask] = null;
        head++;
    }

    private void append(@Nullable BatchLane lane, long count) {
        if (tail - head == lanes.length) {
            grow();
        }
        lanes[tail & mask] = lane;
        counts[tail & mask] = count;
        tail++;
    }

    private void grow() {
        int size = lanes.length;
        BatchLane[] moreLanes = new BatchLane[2 * size];
        long[] moreCounts = new long[2 * size];
        for (int i = 0; i < size; i++) {
            moreLanes[i] = lanes[head + i & mask];
            moreCounts[i] = counts[head + i & mask];
        }
        lanes = moreLanes;
        counts = moreCounts;
        mask = 2 * size - 1;
        head = 0;
        tail = size;
    }
}
