package io.farheap.remote.server;

import io.farheap.control.ControlException;
import io.farheap.control.grpc.ControlClient;
import java.util.Iterator;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;

/** How the ends of connections on one memory server are destroyed, and which of them may still be there. Any thread. */
public final class ServerFences {

    private final ControlClient control;
    private final LeaseCalls calls;
    private final Consumer<CompletableFuture<Void>> closesLater;
    private final DeferredCloser lateClose = new DeferredCloser();
    private final Set<Long> forgotten = ConcurrentHashMap.newKeySet();

    /** @param closesLater told what completes when something is closed that the server would not let go of */
    ServerFences(ControlClient control, LeaseCalls calls, Consumer<CompletableFuture<Void>> closesLater) {
        this.control = control;
        this.calls = calls;
        this.closesLater = closesLater;
    }

    /**
     * The fence: when it returns, nothing that was posted through the connection takes effect any more. Of a server
     * that has just not answered another call it is not asked: all that wait for it wait once.
     */
    void disconnect(long connectionId) {
        calls.requireAnswering();
        try {
            calls.run(lease -> control.disconnect(lease, connectionId));
        } catch (ControlException e) {
            if (e.code() != ControlException.Code.LEASE_EXPIRED) {
                throw e;
            }
        }
    }

    /** Whether the lease is lost, which takes them along. */
    boolean lost() {
        return calls.lost() != null;
    }

    /** A connection that ended while the server did not answer: its end may still be there. */
    void forgotten(long connectionId) {
        forgotten.add(connectionId);
    }

    /** Fences the connections that ended without it. */
    void fenceForgotten() {
        for (Iterator<Long> each = forgotten.iterator(); each.hasNext(); ) {
            disconnect(each.next());
            each.remove();
        }
    }

    /**
     * Closes what the server may be in the middle of writing to, without waiting for that.
     *
     * @return completes when that is closed
     */
    CompletableFuture<Void> closeLate(AutoCloseable resource) {
        CompletableFuture<Void> closed = lateClose.close(resource);
        closesLater.accept(closed);
        return closed;
    }
}
