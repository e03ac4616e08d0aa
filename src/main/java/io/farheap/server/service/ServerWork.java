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

    /** A pass over the thread's rings begins. A round serves some of them, and the next one those that follow. */
    default void passBegins() {}

    /**
     * Whether a client's next batch of calls waits in this pass, as it has used more of the thread than another whose
     * batches or calls come first. It is served all the same if nothing else is. Asked in each pass in which a ring has
     * a batch.
     *
     * @param passes in how many passes before this one the ring's batch has waited
     */
    default boolean waits(HeldRegions client, int passes) {
        return false;
    }

    /** Whether {@link #run} has something to do that a client waits for. */
    default boolean hasCalls() {
        return false;
    }

    /** The thread ends; {@link #run} is not called any more. */
    default void ended() {}
}
