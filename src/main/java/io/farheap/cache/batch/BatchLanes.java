package io.farheap.cache.batch;

import io.farheap.cache.onesided.RequestRecovery;
import io.farheap.cache.order.RegionHeat;
import io.farheap.cache.order.RequestBuffer;
import io.farheap.cache.route.BatchLane;
import io.farheap.cache.route.Routes;
import io.farheap.connection.Connection;
import io.farheap.remote.contract.RemoteServer;
import io.farheap.remote.queue.QueuePoster;
import io.farheap.remote.server.ServerRing;
import io.farheap.rpc.batch.BatchConnection;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * A session's batches, one lane for each server, and the operations on all of them. A server's batches and its
 * one-sided path are lost together. One thread at a time, inside the session's gate.
 */
final class BatchLanes {

    private static final long PATIENCE_NANOS = 50_000_000;
    private static final long NO_PATIENCE_NANOS = 1_000_000;

    private final Routes routes;
    private final QueuePoster oneSided;
    private final RequestRecovery recovery;
    /** Whether lanes have been lost whose requests have not been moved. */
    private boolean fresh;

    private BatchLane[] lanes = {};
    /** Requests in batches between issue and callback. */
    private int pending;

    BatchLanes(Routes routes, QueuePoster oneSided, RequestRecovery recovery) {
        this.routes = routes;
        this.oneSided = oneSided;
        this.recovery = recovery;
    }

    void add(RemoteServer server, ServerRing end) {
        BatchLane lane = new BatchLane(server, end);
        routes.lane(lane.server, lane);
        BatchLane[] more = Arrays.copyOf(lanes, lanes.length + 1);
        more[lanes.length] = lane;
        // A sampling thread reads the array without the gate.
        VarHandle.releaseFence();
        lanes = more;
    }

    // The server has a lane: its rings were added, and are removed once.
    @SuppressWarnings("NullAway")
    void remove(int server) {
        BatchLane removed = routes.lane(server);
        lose(removed);
        routes.lane(server, null);
        lanes = Arrays.stream(lanes).filter(lane -> lane != removed).toArray(BatchLane[]::new);
    }

    /** The connection to a server, or null. */
    @Nullable
    BatchConnection connection(int server) {
        BatchLane lane = routes.lane(server);
        return lane == null ? null : lane.connection;
    }

    /** The lanes in use; the array must not be changed. */
    BatchLane[] all() {
        return lanes;
    }

    int pending() {
        return pending;
    }

    /** Changes the number of requests in batches. */
    void pendingBy(int change) {
        pending += change;
    }

    /** Whether both paths to a server are usable: a failed one fails fast, which says nothing about speed. */
    static boolean isUp(@Nullable Connection connection, BatchConnection batches) {
        return connection != null && !connection.failed() && !batches.failed();
    }

    /** As {@link #isUp}, to every server, for a record that fits into a batch. */
    boolean allUp(int length) {
        for (BatchLane lane : lanes) {
            if (length > lane.connection.recordBytes() || !isUp(routes.connection(lane.server), lane.connection)) {
                return false;
            }
        }
        return lanes.length > 0;
    }

    /** Whether no operation is in flight to a server, in batches or one-sided. */
    boolean isIdle(BatchLane lane) {
        return lane.connection.unanswered() == 0 && oneSided.inFlight(lane.server) == 0;
    }

    /**
     * Whether each lane has room for {@code count} records. Records beyond the most that a lane can ever take use the
     * one-sided path, and need no room here.
     */
    boolean haveRoomFor(int count) {
        for (BatchLane lane : lanes) {
            if (!lane.connection.failed() && lane.connection.room() < Math.min(count, lane.connection.mostRoom())) {
                return false;
            }
        }
        return true;
    }

    /**
     * Sends a full batch, which may have been waiting for room in the send queue.
     *
     * @return whether there is room for a request now
     */
    static boolean makeRoom(BatchConnection connection) {
        return connection.isFull() && connection.send() && connection.hasRoom();
    }

    /**
     * Loses a lane whose connection has failed, and the one-sided path with it. A write in a batch that was not
     * answered may still take effect until the server's end is fenced, so no later operation of the session may reach
     * the server before.
     */
    void lose(BatchLane lane) {
        if (lane.lost) {
            return;
        }
        lane.lost = true;
        fresh = true;
        oneSided.fail(lane.server);
        if (lane.remote.lost() == null) {
            if (lane.connection.hasWorked()) {
                recovery.works(lane.remote);
            }
            recovery.miss(lane.remote);
        }
    }

    /** Whether lanes have been lost whose requests must be moved before others are issued or posted. */
    boolean fresh() {
        return fresh;
    }

    /** As {@link #fresh}; the caller moves them now. */
    boolean takeFresh() {
        boolean some = fresh;
        if (some) {
            fresh = false;
        }
        return some;
    }

    /**
     * The same in the other direction, before a lost one-sided write is called back: fails the rings to each server
     * whose one-sided connection has failed. Their requests must be moved before another thread can replace both, or
     * later ones would pass them on the new connections.
     */
    void loseBehindFailed() {
        for (BatchLane lane : lanes) {
            Connection connection = routes.connection(lane.server);
            if (connection != null && connection.failed() && !lane.connection.failed()) {
                lane.connection.fail();
                lose(lane);
            }
        }
    }

    /** Takes the answers that have arrived, and loses the lanes whose connections have failed. */
    void receive() {
        for (BatchLane lane : lanes) {
            lane.connection.receive();
            if (lane.connection.failed()) {
                lose(lane);
            }
        }
    }

    void send() {
        for (BatchLane lane : lanes) {
            lane.connection.send();
        }
    }

    /**
     * Makes later answers raise an event.
     *
     * @return for how many ns a thread may sleep; 0 if all batches are answered
     */
    long listen() {
        long patience = 0;
        for (BatchLane lane : lanes) {
            if (!lane.connection.isAnswered()) {
                lane.connection.requestNotification();
                // A server that is gone raises no event: polls have to find out.
                long wait = lane.connection.requestWakeUp() ? PATIENCE_NANOS : NO_PATIENCE_NANOS;
                patience = patience == 0 ? wait : Math.min(patience, wait);
            }
        }
        return patience;
    }

    /**
     * Whether a one-sided request has to wait for a request in a batch; if so, the batch is sent. The next poll moves
     * the requests of lost lanes, which may overlap it.
     */
    boolean blocks(long address, long length) {
        for (BatchLane lane : lanes) {
            if (lane.connection.failed()) {
                lose(lane);
            }
            if (!lane.connection.isAnswered() && lane.mayOverlap(address, length)) {
                lane.connection.send();
                return true;
            }
        }
        return fresh;
    }

    /** Describes the requests in batches, for messages. */
    String describe() {
        StringBuilder text = new StringBuilder(", and " + pending + " in batches");
        for (BatchLane lane : lanes) {
            text.append(", to server ")
                    .append(lane.server)
                    .append(": ")
                    .append(lane.connection.unanswered())
                    .append(" batches unanswered, ")
                    .append(lane.connection.waiting())
                    .append(" requests not sent");
        }
        return text.toString();
    }

    /** Whether a request overlaps a range, and one of the two writes. */
    boolean conflicts(boolean write, long address, long length) {
        if (pending > 0) {
            for (BatchLane lane : lanes) {
                if (lane.conflicts(write, address, length)) {
                    return true;
                }
            }
        }
        return false;
    }

    boolean uses(RequestBuffer buffer) {
        for (BatchLane lane : lanes) {
            if (lane.uses(buffer)) {
                return true;
            }
        }
        return false;
    }

    /** Whether a request extends beyond an address. */
    boolean reaches(long end) {
        for (BatchLane lane : lanes) {
            if (lane.reaches(end)) {
                return true;
            }
        }
        return false;
    }

    void sample(RegionHeat heat) {
        for (BatchLane lane : lanes) {
            lane.sample(heat);
        }
    }
}
