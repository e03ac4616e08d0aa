package io.farheap.connection;

import io.farheap.verbs.QueuePair;
import io.farheap.verbs.SendRequests;

/**
 * The list of work requests that a connection is building: they are posted with one call, and only the last of them is
 * signaled. One thread at a time; nothing here allocates.
 */
final class RequestList {

    private int count;
    private int first;
    private int last;
    private int lastFlags;
    /** The sum of all payloads. */
    private long payloadBytes;

    int count() {
        return count;
    }

    /** Adds a work request, which the caller has linked behind the one before it. */
    void add(int slot, int flags, int bytes) {
        if (count++ == 0) {
            first = slot;
            payloadBytes = bytes;
        } else {
            payloadBytes += bytes;
        }
        last = slot;
        lastFlags = flags;
    }

    /** The slot of the first. */
    int first() {
        return first;
    }

    /**
     * Posts the list and begins another. It must not be empty.
     *
     * @return 0 or errno
     */
    int post(QueuePair queuePair, SendRequests requests) {
        requests.end(last, lastFlags | SendRequests.SIGNALED);
        count = 0;
        return queuePair.post(requests, first, payloadBytes);
    }

    /**
     * Empties the list without posting it.
     *
     * @return how many requests it had
     */
    int clear() {
        int given = count;
        count = 0;
        return given;
    }
}
