package io.farheap.remote.server;

import io.farheap.control.ControlException;
import io.farheap.control.grpc.ControlClient;
import java.util.Iterator;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;

/**
 * Destroys the ends of connections on one memory server, and remembers which of them may still exist. Any thread may
 * call.
 */
public final class ServerFences {

    private final ControlClient control;
    private final LeaseCalls calls;
    private final Consumer<CompletableFuture<Void>> closesLater;
    private final DeferredCloser lateClose = new DeferredCloser();
    /** Whether the server has answered that it does not know the lease any more. */
    private volatile boolean expired;

    private final Set<Long> forgotten = ConcurrentHashMap.newKeySet();

    /** @param closesLater receives a future for each resource whose close the server delays */
    ServerFences(ControlClient control, LeaseCalls calls, Consumer<CompletableFuture<Void>> closesLater) {
        this.control = control;
        this.calls = calls;
        this.closesLater = closesLater;
    }

    /**
     * The fence: when it returns, nothing that was posted through the connection takes effect any more. If the server
     * has recently not answered another call, it throws at once, so that several callers wait for one deadline
     * together.
     *
     * @throws ControlException UNAVAILABLE if the end still exists, and the fence may be tried again
     */
    void disconnect(long connectionId) {
        calls.requireAnswering();
        try {
            calls.run(lease -> control.disconnect(lease, connectionId));
        } catch (ControlException e) {
            if (e.code() == ControlException.Code.INTERNAL) {
                // So a server of an earlier release answers while its device does not release the end.
                throw new ControlException(
                        ControlException.Code.UNAVAILABLE,
                        "an earlier connection has not ended yet: " + e.getMessage(),
                        e);
            }
            if (e.code() != ControlException.Code.LEASE_EXPIRED) {
                throw e;
            }
            // The server knows a lease until it is fenced.
            expired = true;
        }
    }

    /** Whether the lease is lost or has expired at the server, with which all ends on the server end. */
    boolean lost() {
        return expired || calls.lost() != null;
    }

    /** Remembers a connection that was closed while the server did not answer: its end may still exist. */
    void forgotten(long connectionId) {
        forgotten.add(connectionId);
    }

    /** Fences the remembered connections. */
    void fenceForgotten() {
        for (Iterator<Long> each = forgotten.iterator(); each.hasNext(); ) {
            disconnect(each.next());
            each.remove();
        }
    }

    /**
     * Closes a resource that the server may be in the middle of writing to, without waiting for that.
     *
     * @return completes when the resource is closed
     */
    CompletableFuture<Void> closeLate(AutoCloseable resource) {
        CompletableFuture<Void> closed = lateClose.close(resource);
        closesLater.accept(closed);
        return closed;
    }
}
