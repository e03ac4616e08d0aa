package io.farheap.cache.session;

import io.farheap.lifetime.Closeables;
import io.farheap.verbs.VerbsException;
import org.jspecify.annotations.Nullable;

/**
 * The end of a session. Its owner {@linkplain #close closes} it: no request is admitted any more, the pending ones end
 * and are called back, and the cache ends the session. If the cache itself ends it, or its thread is dead, it is
 * {@linkplain #destroy destroyed} at once.
 */
public final class SessionLifeCycle {

    /** The cache's part in the end of a session. Any thread. */
    interface Host {

        /** Throws if the calling thread is in a callback of one of the cache's sessions. */
        void refuseInCallback();

        /** Ends the session. */
        void close();

        /** Fails all connections of the session. */
        void loseAll();

        /** Removes the session's latency recorder. */
        void forgetLatency();
    }

    private final Host host;
    private final SessionAdmission admission;
    private final SessionDataPath dataPath;
    private final SessionProgress progress;
    private final PendingRequests pending;

    SessionLifeCycle(
            Host host,
            SessionAdmission admission,
            SessionDataPath dataPath,
            SessionProgress progress,
            PendingRequests pending) {
        this.host = host;
        this.admission = admission;
        this.dataPath = dataPath;
        this.progress = progress;
        this.pending = pending;
    }

    /** As {@link io.farheap.cache.CacheSession#close}. The owner. */
    public void close() {
        host.refuseInCallback();
        if (admission.gate().asked(admission::closed)) {
            return;
        }
        // Outside the try: a thread that may not use the session must not end it either.
        admission.own();
        RuntimeException thrown = null;
        try {
            try {
                beginClose();
            } catch (RuntimeException e) {
                thrown = e;
            }
            while (pending.count() > 0) {
                try {
                    progress.awaitProgress();
                } catch (VerbsException e) {
                    // The device itself has failed: nothing will complete any more.
                    throw e;
                } catch (RuntimeException e) {
                    thrown = suppress(thrown, e);
                }
            }
        } finally {
            host.close();
        }
        if (thrown != null) {
            throw thrown;
        }
    }

    /** Refuses requests from now on, and ends those that have not been posted. */
    private void beginClose() {
        boolean entered = admission.enter();
        try {
            admission.beginClose();
            admission.path().abandonUnposted();
            admission.calls().abandonUnposted();
        } finally {
            admission.exit(entered);
        }
    }

    private static RuntimeException suppress(@Nullable RuntimeException first, RuntimeException next) {
        if (first == null) {
            return next;
        }
        first.addSuppressed(next);
        return first;
    }

    /**
     * Frees all resources of the session and returns when that is done. Any thread. The owner's next request is
     * refused, since the session is closed.
     */
    public void destroy() {
        // Calls are closed after the path that makes accesses for them.
        dataPath.close(() -> Closeables.all(admission.calls(), host::forgetLatency));
    }

    /**
     * Fails all its connections: the operations in flight are lost, and none takes effect once the servers' ends are
     * fenced.
     */
    public void loseAll() {
        host.loseAll();
    }
}
