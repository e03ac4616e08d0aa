package io.farheap.migration.region;

import io.farheap.control.ControlException;
import io.farheap.remote.contract.RemoteRegion;
import io.farheap.remote.contract.RemoteServer;

/**
 * A session, as a migration sees it. The migration calls on its own thread, while the session's thread goes on or
 * sleeps; each call keeps the session's thread out for no longer than one operation takes.
 */
public interface MigrationParticipant {

    /**
     * Returns when the session can use a server: where its connection has failed, or it has none, it gets another.
     *
     * @throws ControlException where the server does not answer
     */
    void ensureConnected(RemoteServer server);

    /**
     * Returns when every operation that the session posts from now on has seen the region table, and the marks of split
     * regions, as they were at the caller's last {@linkplain io.farheap.posix.AsymmetricFence#heavy heavy fence}.
     * Operations that were posted to the server before may be on their way: then it has begun to await them. Where the
     * connection has failed, so that nothing is known of what it posted, the server's end has been fenced; so has that
     * of a session which was closed before all had completed.
     *
     * @param region any of the server's that the cache holds
     * @return whether all have completed; where not, {@link #drained} tells
     * @throws ControlException where it has failed and the server does not answer the fence
     */
    boolean drain(RemoteRegion region);

    /**
     * Whether the operations that the latest {@link #drain} awaits have completed.
     *
     * @throws ControlException as {@link #drain}
     */
    boolean drained(RemoteRegion region);

    /**
     * Requests that were held may go on, if there are any. The caller has executed a heavy fence since it moved the
     * marks.
     */
    void resume();
}
