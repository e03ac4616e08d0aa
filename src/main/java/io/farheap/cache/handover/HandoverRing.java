package io.farheap.cache.handover;

import io.farheap.cache.order.RequestTable;
import io.farheap.ring.LongRing;

/**
 * The state that a session shares with the client thread that processes its requests: slots with the requests, a ring
 * through which the slots' numbers go to the client thread, and a ring through which they return with a status.
 *
 * <p><b>Threads.</b> The application's thread ({@link HandoverPath}) fills a slot before it offers its number to
 * {@code issued}, and reads the result after it has peeked the number in {@code done}; the rings order these accesses.
 * In between the slot belongs to the client thread ({@link HandoverConsumer}), which may split a request into its
 * records.
 *
 * <p><b>Sleep.</b> Each side stores that it sleeps, executes the heavy half of the asymmetric fence, and then looks for
 * work once more. The other side publishes its work, executes the light half, and then loads whether the first side
 * sleeps. So either the sleeper finds the work, or the other side finds the sleeper and wakes it.
 */
public final class HandoverRing {

    private static final int STATUS_SHIFT = 32;

    final RequestTable requests;
    final HandoverGroups groups;
    /** Slots on their way to the client thread. Both rings have a place for every slot, so an offer always succeeds. */
    final LongRing issued;
    /** Slots with a status, on their way to the application's thread. */
    final LongRing done;
    /**
     * Whether open batches and lists have to be sent, once the requests in {@code issued} have been issued. Written by
     * either thread.
     */
    volatile boolean sending;
    /**
     * Whether requests that the client thread has not taken have to be ended. Set by the application's thread, or the
     * thread that closes the session.
     */
    volatile boolean abandoned;
    /**
     * How many requests wait for a migration, of all sessions that the client thread serves. Written by the client
     * thread.
     */
    volatile int held;

    /** @param capacity how many requests may be between issue and callback, a power of two */
    public HandoverRing(int capacity) {
        requests = new RequestTable(capacity);
        groups = new HandoverGroups(capacity);
        issued = new LongRing(capacity);
        done = new LongRing(capacity);
    }

    static long ended(int slot, int status) {
        return (long) status << STATUS_SHIFT | slot;
    }

    static int slot(long ended) {
        return (int) ended;
    }

    static int status(long ended) {
        return (int) (ended >> STATUS_SHIFT);
    }
}
