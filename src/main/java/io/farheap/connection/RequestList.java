package io.farheap.connection;

import io.farheap.verbs.QueuePair;
import io.farheap.verbs.SendRequests;

/**
 * The list of work requests that a connection is putting together: they are posted as one, and only the last of them is
 * signaled. One thread at a time; nothing here allocates.
 */
final class RequestList {

    private int count;
    private int first;
    private int last;
    private int lastFlags;
    /** Of all of them. */
    private long payloadBytes;

    int count() {
        return count;
    }

    /** Puts a work request into it, which is linked behind the one before it. */
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
     * Posts it and begins another. There must be one in it.
     *
     * @return 0 or errno
     */
    int post(QueuePair queuePair, SendRequests requests) {
        requests.end(last, lastFlags | SendRequests.SIGNALED);
        count = 0;
        return queuePair.post(requests, first, payloadBytes);
    }

    /**
     * Gives up what is in it.
     *
     * @return how many there were
     */
    int clear() {
        int given = count;
        count = 0;
        return given;
    }
}
