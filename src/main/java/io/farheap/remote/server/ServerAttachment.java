package io.farheap.remote.server;

import io.farheap.control.ControlException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;

/** A connection, or a pair of message rings, together with its end on the server. Any thread may call. */
public abstract sealed class ServerAttachment implements AutoCloseable permits ServerConnection, ServerRing {

    private final ServerFences ends;
    private final long connectionId;
    private final AtomicBoolean fenced = new AtomicBoolean();

    ServerAttachment(ServerFences ends, long connectionId) {
        this.ends = ends;
        this.connectionId = connectionId;
    }

    /** The fences of its server. */
    public final ServerFences ends() {
        return ends;
    }

    /**
     * Destroys the server's end: when this returns, nothing that the attachment has sent takes effect any more.
     *
     * @throws ControlException if the server does not answer, so that nothing is known
     */
    public final void fence() {
        if (!fenced.get()) {
            ends.disconnect(connectionId);
            fenced.set(true);
        }
    }

    /** Whether nothing that was sent by it takes effect any more: it is fenced, or the lease is lost. */
    public final boolean isOver() {
        return fenced.get() || ends.lost();
    }

    /** Whether the lease that it was made under is lost, and all memory that was held under it. */
    public final boolean isLost() {
        return ends.lost();
    }

    /** Whether nothing more is sent by it. Called by its owner, or with the owner kept out. */
    public abstract boolean failed();

    /** @return whether it is fenced */
    final boolean fenceOrForget() {
        try {
            fence();
            return true;
        } catch (ControlException e) {
            // The server's end ends with the server or with the lease; a migration must not copy before that.
            ends.forgotten(connectionId);
            return false;
        }
    }

    /**
     * Destroys both ends.
     *
     * @throws ControlException as {@link #fence}; this may be called again then, or {@link #close}
     */
    abstract void end();

    /**
     * Completes when it is closed, which is later than {@link #close} returns if the server is in the middle of writing
     * to it.
     */
    public CompletableFuture<Void> closed() {
        return CompletableFuture.completedFuture(null);
    }

    /** Destroys both ends, even if the server does not answer: its end then ends with its lease. */
    @Override
    public abstract void close();
}
