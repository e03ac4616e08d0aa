package io.farheap.cache;

import io.farheap.remote.RemoteServer;
import io.farheap.remote.ReplyHandler;
import io.farheap.remote.RpcLane;
import io.farheap.remote.ServerRing;
import io.farheap.rpc.BatchConnection;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A session's calls to one server: message rings of their own, beside those of its reads and writes. They are connected
 * on a thread of their own, at the first call and after a failure, and the session's thread never waits for that.
 */
final class CallLink {

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
    private @Nullable Procedure asked;

    private int askedAt;
    private boolean runs;
    private boolean unreachable;
    private boolean closed;

    CallLink(RemoteServer server, Supplier<ServerRing> connect, Runnable wake) {
        this.server = server;
        this.connect = connect;
        this.wake = wake;
        this.connecting = begin(null);
    }

    RemoteServer server() {
        return server;
    }

    /** @param before ended first, so that nothing of it takes effect when the next is used */
    private CompletableFuture<ServerRing> begin(@Nullable ServerRing before) {
        CompletableFuture<ServerRing> made = new CompletableFuture<>();
        Thread.ofVirtual().start(() -> {
            try {
                if (before != null) {
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

    /** Whether the server runs a procedure. */
    boolean serverRuns(Procedure procedure) {
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
            connecting = begin(before);
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
            connecting = begin(null);
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
        if (lane != null) {
            lane.poll(handler);
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
