package io.farheap.cache.calls;

import io.farheap.control.ControlException;
import io.farheap.remote.contract.RemoteServer;
import io.farheap.remote.contract.ReplyHandler;
import io.farheap.remote.queue.RpcLane;
import io.farheap.remote.server.ServerLinks;
import io.farheap.remote.server.ServerRing;
import io.farheap.rpc.batch.BatchConnection;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;

/**
 * A session's connection for calls to one server: message rings beside those of its reads and writes. A separate thread
 * connects them, at the first call and after a failure, and the session's thread never waits for that. Inside the
 * session's gate, or with it claimed.
 */
public final class CallLink {

    /** The pause between two attempts to fence a server's end. */
    private static final long FENCE_PAUSE_NANOS = 20_000_000;
    /** The pause after the first attempt to connect that failed; it doubles. */
    private static final long FIRST_PAUSE_NANOS = 5_000_000;
    /** After this number of failed attempts in turn, at least 155 ms, calls are not kept for the server any more. */
    private static final int MOST_FAILED = 6;
    /** The failure of an attempt that is older than this says nothing about the server now. */
    private static final long STALE_NANOS = 1_000_000_000;
    /**
     * The pause before one of the calls is sent again that the server had no place for; it doubles up to the longest.
     * The shortest again holds for refusals that come so long after those before.
     */
    private static final long FIRST_PLACE_PAUSE_NANOS = 50_000;

    private static final long LONGEST_PLACE_PAUSE_NANOS = 1_000_000;
    private static final long REFUSALS_APART_NANOS = 10_000_000;

    private final RemoteServer server;
    private final ServerLinks<ServerRing> links;
    private final Runnable wake;

    private @Nullable RpcLane lane;
    /** The ring of {@code lane}. */
    private @Nullable ServerRing ring;
    /** The connection of {@code ring}. */
    private @Nullable BatchConnection connection;
    /** The procedure of the last {@link #serverRuns}, its count of changes then, and whether this server runs it. */
    private @Nullable RegisteredProcedure asked;

    private int askedAt;
    /** Calls that the server has ended or sent back since it last refused one: each has left a place. */
    private int places;
    /** The pause before the next call is sent again without such a place, and when it ends, by nanoTime. */
    private long placePause;

    private long placePauseEnd;
    private long refusedAt;
    private boolean runs;
    /** Attempts to connect that have failed in turn, at most {@link #MOST_FAILED}. */
    private int failed;
    /** Whether the server has not answered the last attempt. Written by the thread that connects, before the next. */
    private boolean silent;
    /** When the last attempt failed. Written by the thread that connects, before {@code unreachable}. */
    private long failedAt;
    /** Whether the last attempt failed. Written by the thread that connects. */
    private volatile boolean unreachable;

    private volatile boolean left;

    /** @param links contain this link's end once it is connected */
    CallLink(RemoteServer server, ServerLinks<ServerRing> links, Runnable wake) {
        this.server = server;
        this.links = links;
        this.wake = wake;
        connect(null, 0);
    }

    RemoteServer server() {
        return server;
    }

    /**
     * @param before the failed ring, which is ended first, so that none of its calls takes effect once the next ring is
     *     used
     * @param pauseNanos how long it waits first
     */
    private void connect(@Nullable ServerRing before, long pauseNanos) {
        Thread.ofVirtual().start(() -> {
            try {
                if (pauseNanos > 0) {
                    LockSupport.parkNanos(pauseNanos);
                }
                if (before != null) {
                    links.forget(server);
                    fence(before);
                }
                links.connect(server, () -> !left);
            } catch (Throwable e) {
                silent = e instanceof ControlException unheard
                        && unheard.code() == ControlException.Code.DEADLINE_EXCEEDED;
                failedAt = System.nanoTime();
                unreachable = true;
            } finally {
                wake.run();
            }
        });
    }

    /**
     * Fences a failed ring. If the server has not answered, a separate thread tries again until it does, or is known to
     * be gone; the caller does not wait.
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
            // The server does not answer, or is executing an operation.
        }
    }

    /** Uses a ring that has been connected from now on. */
    void use(ServerRing made) {
        failed = 0;
        ring = made;
        connection = made.connection();
        lane = new RpcLane(server, connection);
    }

    /** The rings that calls are sent over now. */
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

    /** The server has refused a call, since the client has as many there as it may have. */
    void refused() {
        long now = System.nanoTime();
        places = 0;
        if (placePause == 0 || now - refusedAt > REFUSALS_APART_NANOS) {
            placePause = FIRST_PLACE_PAUSE_NANOS;
            placePauseEnd = now + placePause;
        }
        refusedAt = now;
    }

    /** The server has ended a call or sent it back, while others wait for a place. */
    void leftPlace() {
        places++;
    }

    /**
     * Whether a call may be sent now that the server has refused; if so, the caller sends it. One may for each call
     * that has left its place, and one after each pause, since also other clients' calls leave room.
     */
    boolean mayRepeat() {
        if (places > 0) {
            places--;
            return true;
        }
        long now = System.nanoTime();
        if (now - placePauseEnd < 0) {
            return false;
        }
        placePause = Math.min(2 * placePause, LONGEST_PLACE_PAUSE_NANOS);
        placePauseEnd = now + placePause;
        return true;
    }

    /** Connects again after a failure, once the calls that were not answered have been handed to the session. */
    private void renew(RpcLane failed) {
        if (failed.underWay() == 0 && !left) {
            ServerRing before = ring;
            failed.detach();
            lane = null;
            connection = null;
            ring = null;
            connect(before, 0);
        }
    }

    /** Whether a call may be sent now. */
    // Lane and connection are both set, or both null.
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

    /**
     * Whether a call that waits for the connection ends: the last attempt to connect failed, as some before it did, or
     * the server has not answered it. One refusal ends no call, since it may pass at once; nor does a failure that is
     * old, since no call has waited for the server meanwhile. If the last attempt failed, this begins another.
     */
    boolean unreachable() {
        if (!unreachable || left) {
            return unreachable;
        }
        boolean stale = System.nanoTime() - failedAt > STALE_NANOS;
        unreachable = false;
        if (stale && failed == MOST_FAILED) {
            failed = 0;
        }
        failed = Math.min(failed + 1, MOST_FAILED);
        boolean ends = silent && !stale || failed == MOST_FAILED;
        connect(null, ends ? 0 : FIRST_PAUSE_NANOS << failed - 1);
        return ends;
    }

    /** Whether its queue is full. */
    // As in hasRoom.
    @SuppressWarnings("NullAway")
    boolean full() {
        RpcLane now = lane;
        return now != null && !connection.failed() && now.isFull();
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

    /** Renews a failed connection at once: lost calls wait for the fence. */
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

    /** Whether polls have something to do, even if no call is under way. */
    boolean busy() {
        return lane != null && lane.busy();
    }

    /** Called before the last poll before a sleep. */
    void listen() {
        if (lane != null) {
            lane.listen();
        }
    }

    /** @return false if an event is not certain */
    boolean requestWakeUp() {
        return lane == null || lane.requestWakeUp();
    }

    /** Fails the connection: the calls in flight are lost. */
    public void lose() {
        if (connection != null) {
            connection.fail();
        }
    }

    /** Stops using a ring, if it is in use. No call has been sent over it. */
    void leave(ServerRing end) {
        if (ring == end) {
            lane = null;
            connection = null;
            ring = null;
        }
    }

    /** Takes the calls back that have not been sent. */
    void takeUnsent(IntConsumer tags) {
        if (lane != null) {
            lane.takeUnsent(tag -> tags.accept((int) tag));
        }
    }

    /**
     * Takes the answers that have arrived, and takes back the calls that have not been sent.
     *
     * @return whether other calls are under way
     */
    // As in hasRoom.
    @SuppressWarnings("NullAway")
    boolean settle(IntConsumer unsent, ReplyHandler handler) {
        RpcLane now = lane;
        if (now == null || connection.failed()) {
            return false;
        }
        takeUnsent(unsent);
        now.poll(handler);
        return now.underWay() > 0 && !connection.failed();
    }

    /** Ends this link: it sends nothing and connects to nothing any more. */
    void leave() {
        left = true;
        if (lane != null) {
            lane.detach();
        }
    }
}
