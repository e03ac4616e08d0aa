package io.farheap.server.service;

/**
 * What a service does on one of a server's threads between the rounds of its message rings: calls that a handler has
 * begun and that take longer than a handler may. On that thread alone, and inside its gate: what a handler may do, this
 * may, and whoever takes a ring, a region or a lease away waits until it returns. So it is short: a few tens of
 * microseconds at a time.
 *
 * <p>What it throws ends the thread, as an error of the thread's own would.
 */
public interface ServerWork {

    /**
     * Does some of what there is. Rings are served before each time, so who keeps them busy is to have as much of the
     * thread as this has.
     *
     * @param busy whether a ring had something to serve just now
     * @return whether there is something to do; the thread does not sleep as long as there is
     */
    boolean run(boolean busy);

    /** The thread ends, and nobody calls {@link #run} any more. */
    default void ended() {}
}
