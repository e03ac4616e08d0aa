package io.farheap.cache;

import io.farheap.control.ControlException;
import io.farheap.remote.RemoteServer;
import io.farheap.remote.ReplyHandler;
import io.farheap.remote.RpcLane;
import io.farheap.remote.ServerRing;
import io.farheap.rpc.BatchConnection;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A session's calls to one server: message rings of their own, beside those of its reads and writes. They are connected
 * on a thread of their own, at the first call and after a failure, and the session's thread never waits for that.
 */
final class CallLink {

    /** The server's end of the rings that a call is sent over. */
    final class RingEnd {

        private volatile boolean fenced;

        RemoteServer server() {
            return server;
        }

        /**
         * Whether nothing that was sent takes effect any more, where the ring has failed: the server's end is fenced;
         * or the lease is lost, which takes it along; or the cache has left the server, which has no region of it then.
         */
        boolean isOver() {
            return fenced || closed || server.lost() != null;
        }
    }

    /** From one try to fence a server's end to the next. */
    private static final long FENCE_PAUSE_NANOS = 20_000_000;

    private final RemoteServer server;
    private final Supplier<ServerRing> connect;
    private final Runnable wake;
    private CompletableFuture<ServerRing> connecting;
    /** Rings before that a stopped server may hold up. Whoever connects writes it; who has seen that end reads it. */
    private CompletableFuture<Void> closing = CompletableFuture.completedFuture(null);

    private @Nullable RpcLane lane;
    /** The lane's. */
    private @Nullable BatchConnection connection;
    /** The procedure that was asked for last, what it knew of its servers then, and whether this server runs it. */
    private @Nullable RegisteredProcedure asked;

    private int askedAt;
    private boolean runs;
    private boolean unreachable;
    private volatile boolean closed;
    /** Of what is connected, or is being connected. */
    private RingEnd ring = new RingEnd();

    CallLink(RemoteServer server, Supplier<ServerRing> connect, Runnable wake) {
        this.server = server;
        this.connect = connect;
        this.wake = wake;
        this.connecting = begin(null, ring);
    }

    RemoteServer server() {
        return server;
    }

    /**
     * @param before ended first, so that nothing of it takes effect when the next is used
     * @param end the server's of that one
     */
    private CompletableFuture<ServerRing> begin(@Nullable ServerRing before, RingEnd end) {
        CompletableFuture<ServerRing> made = new CompletableFuture<>();
        Thread.ofVirtual().start(() -> {
            try {
                if (before != null) {
                    fence(before, end);
                    before.close();
                    closing = CompletableFuture.allOf(closing, before.closed());
                }
                server.requireHeld();
                made.complete(connect.get());
            } catch (Throwable e) {
                made.completeExceptionally(e);
            } finally {
                wake.run();
            }
        });
        return made;
    }

    /** Where the server does not answer, it is asked again until it does, or is known to be gone: nobody waits here. */
    private void fence(ServerRing before, RingEnd end) {
        end.fenced = isFenced(before);
        if (!end.fenced) {
            server.doubt();
            Thread.ofVirtual().start(() -> {
                while (!end.isOver()) {
                    LockSupport.parkNanos(FENCE_PAUSE_NANOS);
                    end.fenced = isFenced(before);
                }
                wake.run();
            });
        }
    }

    private static boolean isFenced(ServerRing ring) {
        try {
            ring.fence();
            return true;
        } catch (ControlException e) {
            // The server does not answer, or is in the midst of an operation.
            return false;
        }
    }

    /** The server's end of the rings that a call is sent over now. */
    RingEnd ring() {
        return ring;
    }

    /** Whether the server runs a procedure. */
    boolean serverRuns(RegisteredProcedure procedure) {
        int now = procedure.changes();
        if (procedure != asked || now != askedAt) {
            asked = procedure;
            askedAt = now;
            runs = procedure.runsOn(server);
        }
        return runs;
    }

    /** Takes up what has been connected. */
    private void look() {
        if (lane != null || unreachable || closed || !connecting.isDone()) {
            return;
        }
        try {
            connection = connecting.join().connection();
            lane = new RpcLane(server, connection);
        } catch (CompletionException e) {
            unreachable = true;
        }
    }

    /** After a failure; what was sent and not answered has been handed over. */
    private void renew(RpcLane failed) {
        if (failed.underWay() == 0 && !closed) {
            ServerRing before = connecting.join();
            failed.detach();
            lane = null;
            connection = null;
            connecting = begin(before, ring);
            ring = new RingEnd();
        }
    }

    /** Whether a call may be sent now. */
    // Both are there, or none.
    @SuppressWarnings("NullAway")
    boolean hasRoom() {
        if (lane == null) {
            look();
        }
        RpcLane now = lane;
        if (now == null) {
            return false;
        }
        if (connection.failed()) {
            renew(now);
            return false;
        }
        return now.hasRoom();
    }

    /** Whether it could not be connected; the next call tries again. */
    boolean unreachable() {
        if (unreachable && !closed) {
            unreachable = false;
            connecting = begin(null, ring);
            return true;
        }
        return unreachable;
    }

    /** Whether its queue is full. */
    // As in hasRoom.
    @SuppressWarnings("NullAway")
    boolean full() {
        RpcLane now = lane;
        return now != null && !connection.failed() && !now.hasRoom();
    }

    // After hasRoom.
    @SuppressWarnings("NullAway")
    void call(int operation, Object user, long arguments, int bytes, long reply, int replyBytes, long tag) {
        lane.call(operation, user, arguments, bytes, reply, replyBytes, tag);
    }

    void poll(ReplyHandler handler) {
        look();
        RpcLane now = lane;
        if (now != null) {
            now.poll(handler);
            renewFailed();
        }
    }

    /** At once: what was lost waits for the fence. */
    // As in hasRoom; a callback may have renewed it.
    @SuppressWarnings("NullAway")
    private void renewFailed() {
        RpcLane now = lane;
        if (now != null && connection.failed()) {
            renew(now);
        }
    }

    void send() {
        if (connection != null) {
            connection.send();
        }
    }

    int underWay() {
        return lane == null ? 0 : lane.underWay();
    }

    /** Before a look for what has come. */
    void listen() {
        if (lane != null) {
            lane.listen();
        }
    }

    /** @return false where no event is certain */
    boolean requestWakeUp() {
        return lane == null || lane.requestWakeUp();
    }

    /** What is under way is lost. */
    void lose() {
        if (connection != null) {
            connection.fail();
        }
    }

    /** Ends both ends, on a thread of its own where that takes long. */
    CompletableFuture<Void> end() {
        closed = true;
        if (lane != null) {
            lane.detach();
        }
        return connecting
                .handle((ring, failure) -> {
                    if (ring == null) {
                        return closing;
                    }
                    ring.close();
                    return CompletableFuture.allOf(closing, ring.closed());
                })
                .thenCompose(later -> later);
    }
}
