package io.farheap.cache.calls;

import io.farheap.control.ControlException;
import io.farheap.remote.contract.RemoteServer;
import io.farheap.remote.contract.ReplyHandler;
import io.farheap.remote.queue.RpcLane;
import io.farheap.remote.server.ServerLinks;
import io.farheap.remote.server.ServerRing;
import io.farheap.rpc.batch.BatchConnection;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * A session's calls to one server: message rings of their own, beside those of its reads and writes. They are connected
 * on a thread of their own, at the first call and after a failure, and the session's thread never waits for that.
 * Inside the session's gate, or with it claimed.
 */
public final class CallLink {

    /** From one try to fence a server's end to the next. */
    private static final long FENCE_PAUSE_NANOS = 20_000_000;

    private final RemoteServer server;
    private final ServerLinks<ServerRing> links;
    private final Runnable wake;

    private @Nullable RpcLane lane;
    /** The lane's. */
    private @Nullable ServerRing ring;
    /** The ring's. */
    private @Nullable BatchConnection connection;
    /** The procedure that was asked for last, what it knew of its servers then, and whether this server runs it. */
    private @Nullable RegisteredProcedure asked;

    private int askedAt;
    private boolean runs;
    /** Written by the thread that connects. */
    private volatile boolean unreachable;

    private volatile boolean left;

    /** @param links among which is this one's end, once there is one */
    CallLink(RemoteServer server, ServerLinks<ServerRing> links, Runnable wake) {
        this.server = server;
        this.links = links;
        this.wake = wake;
        connect(null);
    }

    RemoteServer server() {
        return server;
    }

    /** @param before ended first, so that nothing of it takes effect when the next is used */
    private void connect(@Nullable ServerRing before) {
        Thread.ofVirtual().start(() -> {
            try {
                if (before != null) {
                    links.forget(server);
                    fence(before);
                }
                links.connect(server, () -> !left);
            } catch (Throwable e) {
                unreachable = true;
            } finally {
                wake.run();
            }
        });
    }

    /**
     * If the server has not answered, it is asked again until it does, or is known to be gone: no thread waits here.
     */
    private void fence(ServerRing before) {
        if (before.isOver()) {
            return;
        }
        server.doubt();
        Thread.ofVirtual().start(() -> {
            while (!left && !before.isOver()) {
                LockSupport.parkNanos(FENCE_PAUSE_NANOS);
                tryToFence(before);
            }
            wake.run();
        });
    }

    private static void tryToFence(ServerRing before) {
        try {
            before.fence();
        } catch (ControlException e) {
            // The server does not answer, or is in the midst of an operation.
        }
    }

    /** What has been connected is used from now on. */
    void use(ServerRing made) {
        ring = made;
        connection = made.connection();
        lane = new RpcLane(server, connection);
    }

    /** The rings that a call is sent over now. */
    @Nullable
    ServerRing ring() {
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

    /** After a failure; what was sent and not answered has been handed over. */
    private void renew(RpcLane failed) {
        if (failed.underWay() == 0 && !left) {
            ServerRing before = ring;
            failed.detach();
            lane = null;
            connection = null;
            ring = null;
            connect(before);
        }
    }

    /** Whether a call may be sent now. */
    // Both are there, or none.
    @SuppressWarnings("NullAway")
    boolean hasRoom() {
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
        if (unreachable && !left) {
            unreachable = false;
            connect(null);
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
    public void lose() {
        if (connection != null) {
            connection.fail();
        }
    }

    /** Uses a ring no more, if it does. Nothing has been sent over it. */
    void leave(ServerRing end) {
        if (ring == end) {
            lane = null;
            connection = null;
            ring = null;
        }
    }

    /** Nothing is sent by it, or connected for it, any more. */
    void leave() {
        left = true;
        if (lane != null) {
            lane.detach();
        }
    }
}
