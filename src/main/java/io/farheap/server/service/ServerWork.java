package io.farheap.server.service;

import io.farheap.rpc.HeldRegions;

/**
 * The work of a service on one of a server's threads between the rounds of its message rings: calls that a handler has
 * begun and that take longer than a handler may. It runs on that thread alone, and inside its gate: it may do all that
 * a handler may, and a thread that takes a ring, a region or a lease away waits until it returns. So it must be short:
 * a few tens of microseconds at a time.
 *
 * <p>An exception that it throws ends the thread, as an error of the thread itself would.
 */
public interface ServerWork {

    /**
     * Does some of the work. Rings are served before each call, so clients that keep the rings busy should get as much
     * of the thread's time as this work.
     *
     * @param busy whether a ring had something to serve just now
     * @return whether there is more to do; the thread does not sleep while there is
     */
    boolean run(boolean busy);

    /**
     * Whether a client's next batch of calls waits in this pass over the thread's rings, as the client has used more of
     * the thread than others. Asked for each of its rings that has a batch. The thread serves none that waits, so an
     * implementation lets each wait for a bounded time.
     */
    default boolean waits(HeldRegions client) {
        return false;
    }

    /**
     * A pass has ended: all of the thread's rings have been looked at since the last call, in one round or several.
     * {@link #run} has been called since.
     *
     * @return whether batches that have waited may be served now; the thread begins with any of them
     */
    default boolean passEnds() {
        return false;
    }

    /** The thread ends; {@link #run} is not called any more. */
    default void ended() {}
}
