package io.farheap.remote;

import io.farheap.control.ControlException;
import io.farheap.rpc.BatchConnection;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;

/** A pair of message rings together with its end on the server. */
public final class ServerRing implements ServerEnd {

    private final RemoteServer server;
    private final BatchConnection connection;
    private final long connectionId;
    private final AtomicBoolean fenced = new AtomicBoolean();
    private volatile CompletableFuture<Void> closed = CompletableFuture.completedFuture(null);

    ServerRing(RemoteServer server, BatchConnection connection, long connectionId) {
        this.server = server;
        this.connection = connection;
        this.connectionId = connectionId;
    }

    @Override
    public RemoteServer server() {
        return server;
    }

    public BatchConnection connection() {
        return connection;
    }

    @Override
    public void fence() {
        if (!fenced.get()) {
            server.disconnect(connectionId);
            fenced.set(true);
        }
    }

    /**
     * Destroys the server's end, after which the connection has failed; what has been answered can still be taken,
     * until it is closed.
     */
    public void disconnect() {
        fenceOrForget();
    }

    /** The server's end first: it writes answers. */
    @Override
    public void end() {
        fence();
        connection.close();
    }

    /**
     * Destroys both ends, the server's first: it writes answers, and may be stopped in the middle of one. Where it does
     * not let go, a thread waits for it.
     */
    @Override
    public void close() {
        if (fenceOrForget()) {
            connection.close();
        } else {
            closed = server.closeLate(connection);
        }
    }

    /** Completes when it is closed. */
    public CompletableFuture<Void> closed() {
        return closed;
    }

    private boolean fenceOrForget() {
        try {
            fence();
            return true;
        } catch (ControlException e) {
            // The server's end goes with the server or with the lease; a migration must not copy before that.
            server.forgotten(connectionId);
            return false;
        }
    }
}
