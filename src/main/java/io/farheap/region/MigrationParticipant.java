package io.farheap.region;

/**
 * A session, as a migration sees it. The migration calls on its own thread, while the session's thread goes on or sleeps; each
 * call keeps the session's thread out only for as long as it runs.
 */
public interface MigrationParticipant {

    /**
     * Returns when the session can use a server: where its connection has failed, or it has none, it gets another.
     *
     * @throws io.farheap.control.ControlException where the server does not answer
     */
    void ensureConnected(RemoteServer server);

    /**
     * Returns when every operation that the session had posted to the region's server has completed, and every operation that it
     * posts from now on has seen the region table as it is now. Where the connection has failed, the server's end is fenced
     * instead; so is that of a session which is closed.
     *
     * @throws io.farheap.control.ControlException where it has failed and the server does not answer the fence
     */
    void quiesce(RemoteRegion region);

    /** The region table has an entry that lets writes through again: held writes may go on. */
    void resume();
}
