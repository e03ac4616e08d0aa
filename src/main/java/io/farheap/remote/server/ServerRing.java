package io.farheap.remote.server;

import io.farheap.rpc.batch.BatchConnection;
import java.util.concurrent.CompletableFuture;

/** A pair of message rings together with its end on the server. */
public final class ServerRing extends ServerAttachment {

    private final BatchConnection connection;
    private volatile CompletableFuture<Void> closed = CompletableFuture.completedFuture(null);

    ServerRing(ServerFences ends, BatchConnection connection, long connectionId) {
        super(ends, connectionId);
        this.connection = connection;
    }

    public BatchConnection connection() {
        return connection;
    }

    @Override
    public boolean failed() {
        return connection.failed();
    }

    /** Destroys the server's end first, since it writes answers. */
    @Override
    void end() {
        fence();
        connection.close();
    }

    /**
     * Destroys both ends, the server's first, since it writes answers and may be stopped in the middle of one. If the
     * client's memory cannot be closed for that reason, a daemon thread closes it later.
     */
    @Override
    public void close() {
        if (fenceOrForget()) {
            connection.close();
        } else {
            closed = ends().closeLate(connection);
        }
    }

    @Override
    public CompletableFuture<Void> closed() {
        return closed;
    }
}
