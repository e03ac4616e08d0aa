package io.farheap.cache.handover;

import io.farheap.cache.order.RequestTable;
import io.farheap.ring.LongRing;

/**
 * What a session and the client thread that processes its requests have in common: slots with what is asked for, a ring
 * through which their numbers go to the client thread, and one through which they come back with a status.
 *
 * <p><b>Threads.</b> The application's thread ({@link HandoverPath}) fills a slot before it offers its number, and
 * reads what came of it after it has peeked the number again; the rings order the two. In between the slot is the
 * client thread's ({@link HandoverConsumer}), which may split a request into its records.
 *
 * <p><b>Sleep.</b> Each side says that it sleeps, executes the heavy half of the asymmetric fence, and looks once more;
 * the other makes its work visible, executes the light half, and then looks whether that side sleeps. So one of the two
 * sees the other.
 */
public final class HandoverRing {

    private static final int STATUS_SHIFT = 32;

    final RequestTable requests;
    final HandoverGroups groups;
    /** Slots, to the client thread. With a place for every slot, as the other. */
    final LongRing issued;
    /** Slots with a status, to the application's thread. */
    final LongRing done;
    /** What is open is to be sent, once what is in {@code issued} has been. Either thread. */
    volatile boolean sending;
    /** What the client thread has not taken is to be ended. The application's thread or who closes the session. */
    volatile boolean abandoned;
    /** Requests that wait for a migration, as the client thread knows it: of all sessions that hand over to it. */
    volatile int held;

    /** @param capacity requests between issue and callback, a power of two */
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
