package io.farheap.remote;

import io.farheap.connection.Connection;
import io.farheap.control.ControlException;
import io.farheap.lifetime.Closing;

import java.util.concurrent.atomic.AtomicBoolean;

/** A connection together with its end on the server. */
public final class ServerConnection implements ServerEnd {

    private final RemoteServer server;
    private final Connection connection;
    private final long connectionId;
    private final AtomicBoolean fenced = new AtomicBoolean();

    ServerConnection(RemoteServer server, Connection connection, long connectionId) {
        this.server = server;
        this.connection = connection;
        this.connectionId = connectionId;
    }

    @Override
    public RemoteServer server() {
        return server;
    }

    public Connection connection() {
        return connection;
    }

    @Override
    public void fence() {
        if (!fenced.get()) {
            server.disconnect(connectionId);
            fenced.set(true);
        }
    }

    @Override
    public void end() {
        connection.close();
        fence();
    }

    /** Destroys both ends, the client's first. */
    @Override
    public void close() {
        Closing.all(connection, this::fenceOrForget);
    }

    private void fenceOrForget() {
        try {
            fence();
        } catch (ControlException e) {
            // The server's end goes with the server or with the lease; a migration must not copy before that.
            server.forgotten(connectionId);
        }
    }
}
