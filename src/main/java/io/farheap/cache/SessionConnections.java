package io.farheap.cache;

import io.farheap.connection.Connection;
import io.farheap.lifetime.Closing;
import io.farheap.memory.RegisteredMemory;
import io.farheap.remote.RemoteRegion;
import io.farheap.remote.RemoteServer;
import io.farheap.remote.ServerConnection;
import io.farheap.thread.OwnerGate;
import io.farheap.verbs.CompletionQueue;
import io.farheap.verbs.ProtectionDomain;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A session's connections, one to each server: made, replaced, flushed and ended by migrations and by the cache, never by the
 * session's thread. Any thread but that may call; the gate is claimed for the moments in which the session must not use them.
 */
final class SessionConnections implements Links {

    private final OwnerGate gate;
    private final SessionQueue queue;
    private final Routes routes;
    private final CompletionQueue completions;
    private final ProtectionDomain domain;
    private final RegisteredMemory scratch;
    private final CacheConfiguration configuration;
    private final int doorbellBatch;
    /** Excludes those who make and end connections, which takes as long as servers take to answer. */
    private final ReentrantLock changing = new ReentrantLock();
    /** Guarded by {@code changing}. */
    private final List<ServerConnection> connections = new ArrayList<>();
    private int nextNumber;
    /** {@code nanoTime}. One migration at a time flushes. */
    private long flushDeadline;
    private boolean closed;

    /** @param scratch where flushes put what they read */
    SessionConnections(OwnerGate gate, SessionQueue queue, Routes routes, CompletionQueue completions, ProtectionDomain domain,
                       RegisteredMemory scratch, CacheConfiguration configuration, int doorbellBatch) {
        this.gate = gate;
        this.queue = queue;
        this.routes = routes;
        this.completions = completions;
        this.domain = domain;
        this.scratch = scratch;
        this.configuration = configuration;
        this.doorbellBatch = doorbellBatch;
    }

    @Override
    public void connect(RemoteServer server) {
        changing.lock();
        try {
            if (closed) {
                return;
            }
            ServerConnection connection = server.connect(domain, completions, nextNumber++, configuration.queueDepth(),
                configuration.inlineBytes(), doorbellBatch);
            gate.claim();
            connections.add(connection);
            queue.add(server.index(), connection.connection());
            gate.unclaim();
            // Either this sees the loss, or whoever fails what is lost sees the connection.
            if (server.lost() != null) {
                lose(server);
            }
        } finally {
            changing.unlock();
        }
    }

    @Override
    public void ensure(RemoteServer server) {
        changing.lock();
        try {
            gate.claim();
            Connection connection = routes.connection(server.index());
            boolean usable = connection != null && !connection.failed();
            gate.unclaim();
            if (!closed && !usable) {
                disconnect(server);
                connect(server);
            }
        } finally {
            changing.unlock();
        }
    }

    @Override
    public void disconnect(RemoteServer server) {
        changing.lock();
        try {
            ServerConnection connection = find(server);
            if (closed || connection == null) {
                return;
            }
            gate.claim();
            try {
                queue.remove(server.index(), FLUSH_TIMEOUT_NANOS);
                connections.remove(connection);
            } finally {
                gate.unclaim();
            }
            connection.close();
        } finally {
            changing.unlock();
        }
    }

    @Override
    public void lose(RemoteServer server) {
        gate.claim();
        try {
            if (!closed) {
                queue.fail(server.index());
            }
        } finally {
            gate.unclaim();
        }
    }

    @Override
    public boolean flushedAlready(RemoteRegion region) {
        return gate.vacant() && idle(region.serverIndex());
    }

    @Override
    public boolean flush(RemoteRegion region) {
        boolean unknown = false;
        boolean done = true;
        gate.claim();
        try {
            Connection connection = routes.connection(region.serverIndex());
            if (connection == null || connection.failed() || closed && !idle(region.serverIndex())) {
                unknown = true;
            } else if (!idle(region.serverIndex())) {
                unknown = !queue.drain(connection, region, scratch.address(), scratch.localKey());
                done = unknown || !connection.flushing();
                flushDeadline = System.nanoTime() + FLUSH_TIMEOUT_NANOS;
            }
        } finally {
            gate.unclaim();
        }
        if (unknown) {
            fence(region.server());
        }
        return done;
    }

    @Override
    public boolean flushed(RemoteRegion region) {
        boolean unknown;
        boolean done;
        gate.claim();
        try {
            Connection connection = routes.connection(region.serverIndex());
            done = connection == null || closed || queue.drained(connection);
            if (!done && System.nanoTime() - flushDeadline > 0) {
                connection.fail();
                done = true;
            }
            unknown = connection == null || connection.failed() || closed && !idle(region.serverIndex());
        } finally {
            gate.unclaim();
        }
        if (unknown) {
            fence(region.server());
        }
        return done || unknown;
    }

    /** Whether nothing is on its way to a server, and that is known. */
    private boolean idle(int server) {
        Connection connection = routes.connection(server);
        return connection != null && connection.inFlight() == 0 && !connection.failed();
    }

    /**
     * Returns when nothing of what is unknown can come to pass any more. Where another thread replaces the connection, that does it. A
     * failed connection posts nothing any more, so the fence needs no claim.
     */
    private void fence(RemoteServer server) {
        changing.lock();
        try {
            ServerConnection connection = find(server);
            if (connection != null && (closed || connection.connection().failed())) {
                connection.fence();
            }
        } finally {
            changing.unlock();
        }
    }

    @Override
    public void close() {
        changing.lock();
        try {
            gate.claim();
            boolean first = !closed;
            closed = true;
            gate.unclaim();
            if (first) {
                Closing.all(connections);
            }
        } finally {
            changing.unlock();
        }
    }

    private ServerConnection find(RemoteServer server) {
        for (ServerConnection connection : connections) {
            if (connection.server() == server) {
                return connection;
            }
        }
        return null;
    }
}
