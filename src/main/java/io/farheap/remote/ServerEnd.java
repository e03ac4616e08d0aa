package io.farheap.remote;

/** A connection, or a pair of message rings, together with its end on the server. */
interface ServerEnd extends AutoCloseable {

    RemoteServer server();

    /**
     * Destroys the server's end: when it returns, nothing that was sent by it takes effect any more.
     *
     * @throws io.farheap.control.ControlException where the server does not answer, so that nothing is known
     */
    void fence();

    /** Destroys both ends. @throws io.farheap.control.ControlException as {@link #fence}; it may be called again then, or closed */
    void end();

    /** Destroys both ends, also where the server does not answer: its end then goes with its lease. */
    @Override
    void close();
}
