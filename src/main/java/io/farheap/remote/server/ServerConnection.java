package io.farheap.remote.server;

import io.farheap.connection.Connection;
import io.farheap.lifetime.Closeables;

/** A connection together with its end on the server. */
public final class ServerConnection extends ServerAttachment {

    private final Connection connection;

    ServerConnection(ServerFences ends, Connection connection, long connectionId) {
        super(ends, connectionId);
        this.connection = connection;
    }

    public Connection connection() {
        return connection;
    }

    @Override
    public boolean failed() {
        return connection.failed();
    }

    @Override
    void end() {
        connection.close();
        fence();
    }

    /** Closes the client's end first. */
    @Override
    public void close() {
        Closeables.all(connection, this::fenceOrForget);
    }
}
