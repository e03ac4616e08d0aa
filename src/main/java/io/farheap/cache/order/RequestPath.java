package io.farheap.cache.order;

import io.farheap.cache.contract.Completion;
import io.farheap.cache.contract.Status;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * The way of a session's requests from issue to callback. The session calls it inside its gate, one thread at a time,
 * except for {@link #mayHold} and {@link #sample}, which any thread may call, and {@link #park}.
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
     * @return false if the queue is full; nothing has happened then
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
     * Issues one request for many records of one length; their data follow one another in a buffer.
     *
     * @param count 1 to {@link #maxRecords}
     * @return false if the queue is full; nothing has happened then
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
     * Issues an atomic on 8 bytes, aligned to 8. Their old value is stored at {@code local} in a registered buffer. In
     * the order of requests an atomic counts as a write.
     *
     * @param swap a compare-and-swap, else a fetch-and-add
     * @param compareOrAdd the value to compare with, or to add
     * @param value the value that is stored if the comparison succeeds
     * @return false if the queue is full; nothing has happened then
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
     * Allocates the memory that requests with segments need, so that none of them fails later for lack of it. With the
     * gate claimed.
     *
     * @throws RuntimeException if there is no memory; nothing has happened then
     */
    default void prepareCopies() {}

    /** The most records of one request. */
    int maxRecords();

    /**
     * Executes a request at once if no other of the session is pending and nothing is in its way.
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
     * @return how many callbacks ran
     */
    int poll();

    /** Sends requests that wait in an open batch or list for more to join them. */
    void send();

    /**
     * Makes the completions of requests in flight raise events on the session's channel.
     *
     * @return for how many ns a thread may sleep without one; 0 for ever
     */
    long listen();

    /**
     * For how many ns a thread may sleep at most, as of the last poll; 0 for ever. In contrast to {@link #listen}, it
     * is asked after the last poll before the sleep.
     */
    default long longestSleep() {
        return 0;
    }

    /**
     * Sleeps until there may be progress or the thread is unparked. Outside of the gate.
     *
     * @param nanos the most to sleep, no more than {@link #listen} returned; 0 for ever
     */
    default void park(Object blocker, long nanos) {
        if (nanos == 0) {
            LockSupport.park(blocker);
        } else {
            LockSupport.parkNanos(blocker, nanos);
        }
    }

    /**
     * Whether it has to be polled though no request is pending: a write that has been called back still has work left
     * to do.
     */
    default boolean owes() {
        return false;
    }

    /**
     * Whether operations are in flight though no request is pending and none {@linkplain #owes owes} work: an idle
     * thread should poll now and then, so that the resources of these operations can be given back.
     */
    default boolean unsettled() {
        return false;
    }

    /** A migration has released a range: the next poll looks for held requests that may be posted. */
    void resumeHeld();

    /** Ends requests that have not been sent: they are called back with {@link Status#CLOSED}. */
    void abandonUnposted();

    /**
     * Ends requests of another session that is being closed, which are recognized by their completion: those that have
     * nothing in flight and, if the close takes too long, all of them. They are called back with {@link Status#CLOSED}.
     * The caller repeats it until they have ended. A path whose requests end by themselves does nothing.
     *
     * @param whose the completion of that session's requests
     * @param since when that close began, as {@link System#nanoTime}
     */
    default void abandon(Completion whose, long since) {}

    /** How many requests are between issue and callback. */
    int pending();

    /** Describes what is pending and what it waits for, for messages. */
    default String describe() {
        return pending() + " requests pending, " + heldCount() + " of them held by a move";
    }

    /** Whether a request between issue and callback overlaps a range, and one of the two writes. */
    boolean conflicts(boolean write, long address, long length);

    /** How many requests wait for a migration. */
    int heldCount();

    /** Whether a request would have to wait for a migration, or behind a request that does. */
    boolean waits(boolean write, long address, long length);

    /** Whether requests wait for a migration. Any thread, without the gate. */
    boolean mayHold();

    /** Whether a request uses a buffer. */
    boolean uses(RequestBuffer buffer);

    /** Whether a request between issue and callback goes beyond an address of the cache. */
    boolean reaches(long end);

    /** Shows the addresses of recent requests. Any thread, also while requests are issued. */
    void sample(RegionHeat heat);
}
