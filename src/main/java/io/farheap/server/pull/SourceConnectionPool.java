package io.farheap.server.pull;

import io.farheap.control.grpc.ControlClient;
import io.farheap.lifetime.Closeables;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Connections to the servers from which regions were pulled, kept for the next pull: writers of a region wait while it
 * is copied, and a new connection takes longer than the copy. Thread-safe.
 */
public final class SourceConnectionPool implements AutoCloseable {

    private static final int MAX_IDLE = 32;

    /**
     * For whose connection's end a task waits. An idle connection that has ended is closed: its server may never be a
     * source again, and each holds a thread and descriptors.
     */
    private final Set<ControlClient> watched = new HashSet<>();

    private final Deque<ControlClient> idle = new ArrayDeque<>();
    /** Connections over which a last call is made. */
    private final Set<ControlClient> leaving = new HashSet<>();

    private boolean closed;

    /**
     * Takes a connection for the caller alone, which gives it back with {@link #giveBack} or, after a failure, closes
     * it.
     */
    ControlClient take(String address) {
        synchronized (this) {
            for (ControlClient client : idle) {
                if (client.address().equals(address)) {
                    idle.remove(client);
                    return client;
                }
            }
        }
        return ControlClient.connect(address);
    }

    void giveBack(ControlClient client) {
        ControlClient unwanted = client;
        boolean unwatched = false;
        synchronized (this) {
            if (!closed) {
                idle.addFirst(client);
                unwatched = watched.add(client);
                unwanted = idle.size() > MAX_IDLE ? idle.removeLast() : null;
            }
        }
        if (unwanted != null) {
            unwanted.close();
        }
        if (unwatched) {
            client.onceDisconnected(() -> discard(client));
        }
    }

    /** A client that was taken stays with the thread that has it, and is watched again once it is given back. */
    private void discard(ControlClient client) {
        boolean discarded;
        synchronized (this) {
            watched.remove(client);
            discarded = idle.remove(client);
        }
        if (discarded) {
            closeAfter(() -> {}, client);
        }
    }

    synchronized int idle() {
        return idle.size();
    }

    /** Makes a last call over a connection, which may take long, and closes it; on another thread. */
    void closeAfter(Runnable call, ControlClient client) {
        synchronized (this) {
            if (!closed) {
                leaving.add(client);
            }
        }
        Thread.ofVirtual().name("farheap-sources").start(() -> {
            try {
                call.run();
            } finally {
                client.close();
                synchronized (this) {
                    leaving.remove(client);
                }
            }
        });
    }

    @Override
    public void close() {
        List<ControlClient> all;
        synchronized (this) {
            closed = true;
            all = new ArrayList<>(idle);
            idle.clear();
            // Ends the calls over them.
            all.addAll(leaving);
        }
        Closeables.all(all);
    }
}
