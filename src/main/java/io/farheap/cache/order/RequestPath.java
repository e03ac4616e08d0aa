package io.farheap.cache.order;

import io.farheap.cache.contract.Completion;
import io.farheap.cache.contract.Status;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * What becomes of a session's requests between issue and callback. The session calls it inside its gate, one thread at
 * a time, but for {@link #mayHold}.
 */
public interface RequestPath {

    /** {@link #tryExecute} has done the request. */
    int DONE = 0;
    /** {@link #tryExecute} has issued the request; its completion will be called back. */
    int STARTED = 1;
    /** {@link #tryExecute} has done nothing: the request has to be issued. */
    int DECLINED = 2;

    /**
     * Issues a request, with its data in a registered buffer at address {@code local}, or else in a segment.
     *
     * @return false where the queue is full, and nothing has happened
     */
    boolean issue(
            boolean write,
            long address,
            long length,
            @Nullable RequestBuffer buffer,
            long local,
            @Nullable MemorySegment segment,
            Completion completion,
            long token);

    /**
     * Issues one request for many records of one length, whose data follow one another in a buffer.
     *
     * @param count 1 to {@link #maxRecords}
     * @return false where the queue is full, and nothing has happened
     */
    boolean issueAll(
            boolean write,
            long[] addresses,
            int count,
            int length,
            RequestBuffer buffer,
            long local,
            Completion completion,
            long token);

    /**
     * Issues an atomic on 8 bytes, aligned to 8, whose old value lands in a registered buffer; for the order it is a
     * write.
     *
     * @param swap a compare-and-swap, else a fetch-and-add
     * @param compareOrAdd what is compared, or added
     * @param value what is stored where the comparison succeeds
     * @return false where the queue is full, and nothing has happened
     */
    boolean issueAtomic(
            boolean swap,
            long address,
            long compareOrAdd,
            long value,
            RequestBuffer buffer,
            long local,
            Completion completion,
            long token);

    /**
     * Has the memory that requests from segments and into them need, so that none of them fails for want of it. With
     * the gate claimed.
     *
     * @throws RuntimeException where there is none; nothing has happened then
     */
    default void prepareCopies() {}

    /** The most records of one request. */
    int maxRecords();

    /**
     * Does a request at once, where nothing else of the session is pending and nothing is in its way.
     *
     * @return {@link #DONE}, {@link #STARTED} or {@link #DECLINED}
     */
    int tryExecute(
            boolean write,
            long address,
            RequestBuffer buffer,
            long offset,
            long length,
            Completion completion,
            long token);

    /**
     * Makes progress, and runs callbacks.
     *
     * @return how many ran
     */
    int poll();

    /** Sends what waits for others to be sent with. */
    void send();

    /**
     * Makes what is on its way raise events on the session's channel.
     *
     * @return for how many ns a thread may sleep without one; 0 for ever
     */
    long listen();

    /**
     * Sleeps until something may have happened or the thread is unparked. Outside of the gate.
     *
     * @param nanos the most to sleep, as {@link #listen} has said; 0 for ever
     */
    default void park(Object blocker, long nanos) {
        if (nanos == 0) {
            LockSupport.park(blocker);
        } else {
            LockSupport.parkNanos(blocker, nanos);
        }
    }

    /** Whether it is to be polled though nothing is pending: a write has been called back and is not quite done. */
    default boolean owes() {
        return false;
    }

    /**
     * Whether something is on its way though nothing is pending or owed: who rests long is to poll now and then, so
     * that what it holds can be given back.
     */
    default boolean unsettled() {
        return false;
    }

    /** A migration lets requests through again. */
    void resumeHeld();

    /** Ends what has not been sent: it is called back as {@link Status#CLOSED}. */
    void abandonUnposted();

    /**
     * Ends requests of another session, which is to be closed, by their completion: those that have nothing on their
     * way and, once a close takes too long, all; they are called back as {@link Status#CLOSED}. To be called again and
     * again until they have ended. Where requests end by themselves it does nothing.
     *
     * @param since when that close began, by {@link System#nanoTime}
     */
    default void abandon(Completion whose, long since) {}

    /** Requests between issue and callback. */
    int pending();

    /** What is pending, and what it waits for; for messages. */
    default String describe() {
        return pending() + " requests pending, " + heldCount() + " of them held by a move";
    }

    /** Whether a request between issue and callback overlaps a range, and one of the two writes. */
    boolean conflicts(boolean write, long address, long length);

    /** Requests that wait for a migration. */
    int heldCount();

    /** Whether a request would have to wait for a migration, or behind one that does. */
    boolean waits(boolean write, long address, long length);

    /** Whether requests wait for a migration, for a thread that is not the session's. */
    boolean mayHold();

    /** Whether a request uses a buffer. */
    boolean uses(RequestBuffer buffer);

    /** Whether a request between issue and callback goes beyond an address of the cache. */
    boolean reaches(long end);

    /** Shows where requests go. Any thread, also while they are issued. */
    void sample(RegionHeat heat);
}
