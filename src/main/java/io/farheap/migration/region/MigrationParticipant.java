package io.farheap.migration.region;

import io.farheap.control.ControlException;
import io.farheap.remote.contract.RemoteRegion;
import io.farheap.remote.contract.RemoteServer;

/**
 * A session, as a migration uses it. The migration calls on its own thread, while the session's thread runs or sleeps;
 * each call keeps the session's thread out of its gate for no longer than one operation takes.
 */
public interface MigrationParticipant {

    /**
     * Returns when the session can use a server: if its connection has failed, or it has none, it gets another.
     *
     * @throws ControlException if the server does not answer
     */
    void ensureConnected(RemoteServer server);

    /**
     * Returns when every operation that the session posts from now on uses the region table, and the marks of split
     * regions, as they were at the caller's last {@linkplain io.farheap.posix.AsymmetricFence#heavy heavy fence}, or
     * later. Operations that the session posted to the server before may not have completed: then it has begun to wait
     * for them. If the connection has failed, so that the outcome of posted operations is unknown, the server's end has
     * been fenced; so has that of a session that was closed before all had completed.
     *
     * @param region any of the server's regions that the cache holds
     * @return whether all have completed; if not, {@link #drained} reports when
     * @throws ControlException if the connection has failed and the server does not answer the fence
     */
    boolean drain(RemoteRegion region);

    /**
     * Whether the operations that the latest {@link #drain} awaits have completed.
     *
     * @throws ControlException as {@link #drain}
     */
    boolean drained(RemoteRegion region);

    /**
     * Lets held requests continue, if there are any. The caller has executed a heavy fence since it moved the marks.
     */
    void resume();
}
