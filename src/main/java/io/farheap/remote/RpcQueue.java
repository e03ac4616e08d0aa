package io.farheap.remote;

import io.farheap.remote.contract.Outcome;
import io.farheap.remote.contract.PostResult;
import io.farheap.remote.contract.RemoteRegion;
import io.farheap.remote.contract.RemoteServer;
import io.farheap.remote.contract.ReplyHandler;
import io.farheap.remote.device.OpenDevice;
import io.farheap.remote.queue.RpcLane;
import io.farheap.remote.server.LeasedServer;
import io.farheap.remote.server.ServerLinks;
import io.farheap.remote.server.ServerRing;
import io.farheap.rpc.RingShape;
import io.farheap.rpc.batch.BatchConnection;
import io.farheap.verbs.CompletionChannel;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Calls of operations on memory servers ({@link io.farheap.rpc.RpcHandler}), made and polled by one thread at a time,
 * the owner. A call has an operation's number, arguments, room for a reply, and a tag of 64 bits that a poll returns
 * unchanged when the call has ended. Nothing here allocates. Calls never throw for errors of servers: posting returns a
 * {@link PostResult}, and the poll an {@link Outcome}.
 *
 * <p>Calls to a server travel in batches: a batch is sent when it is full, by {@link #send}, and by a poll if nothing
 * is in flight to that server. A server's threads execute the calls of a queue in the order in which they were made,
 * except those that handlers put off; tags return as calls end. A call that is put off keeps the place of its own
 * answer until it ends, and no other call's.
 *
 * <p>An error of one call ends that call alone. If a server is lost, calls in flight to it are {@link Outcome#UNKNOWN},
 * those that were not sent {@link Outcome#NOT_POSTED}, and no other server's; until {@link #reconnect}, calls to it are
 * {@link PostResult#LOST}.
 *
 * <p><b>Threads.</b> As {@link RemoteQueue}.
 */
public final class RpcQueue extends OwnedQueue {

    /** How long the owner sleeps if no event is certain. */
    private static final long UNCERTAIN_NANOS = 50_000;
    /** The longest sleep: a server that is gone, or whose thread is, raises no event, so only polls notice it. */
    private static final long PATIENCE_NANOS = 50_000_000;

    private final RpcOptions options;
    private final RingShape shape;
    private final QueueLinkChanges<ServerRing> links;
    private final Runnable waker = this::wake;
    /** Tests set more, so that a lost wake-up shows. */
    long patienceNanos = PATIENCE_NANOS;
    /** The lane to use for each server. */
    private @Nullable RpcLane[] byServer = new RpcLane[0];
    /** The lanes in use, and replaced ones with calls that have not been handed over. */
    private final List<RpcLane> lanes = new ArrayList<>();

    /** Takes ownership of the channel. */
    RpcQueue(
            OpenDevice device,
            Consumer<OwnedQueue> onClose,
            CompletionChannel channel,
            RpcOptions options,
            ExecutorService calls) {
        super(device, onClose, channel);
        this.options = options;
        this.shape = options.shape();
        this.links = new QueueLinkChanges<>(new RingLinks(), gate, device.events(), channel, calls);
    }

    private final class RingLinks implements ServerLinks.Owner<ServerRing> {

        @Override
        public ServerRing open(RemoteServer server) {
            return LeasedServer.of(server)
                    .connectRing(device.context(), channel, shape, options.threads(), options.inlineBytes());
        }

        @Override
        public void use(RemoteServer server, ServerRing made) {
            add(server, made.connection());
        }

        @Override
        public void leave(RemoteServer server, ServerRing end) {
            detach(server.index());
        }

        @Override
        public void fail(RemoteServer server) {
            RpcQueue.this.fail(server.index());
        }

        @Override
        public void wake() {
            RpcQueue.this.wake();
        }
    }

    /** Adds a lane to a server. With the gate claimed. */
    private void add(RemoteServer owner, BatchConnection connection) {
        if (isClosed()) {
            // The links end it.
            return;
        }
        int server = owner.index();
        if (server >= byServer.length) {
            byServer = Arrays.copyOf(byServer, server + 1);
        }
        byServer[server] = new RpcLane(owner, connection);
        lanes.add(byServer[server]);
    }

    /**
     * Calls an operation on a server.
     *
     * @param buffer holds the arguments, and takes the reply
     * @param at offset of the arguments, which are copied before this returns
     * @param bytes length of the arguments, 0 to {@link RpcOptions#recordBytes}
     * @param replyAt offset at which the reply goes; nothing else may use these bytes until the tag has returned
     * @param replyBytes the most bytes of reply, 0 to {@link RpcOptions#recordBytes}
     * @return one of {@link PostResult}
     */
    public int call(
            RemoteServer server,
            int operation,
            RegisteredBuffer buffer,
            long at,
            int bytes,
            long replyAt,
            int replyBytes,
            long tag) {
        enter();
        try {
            RpcLane lane = lane(server.index());
            if (lane != null && lane.server != server
                    || bytes < 0
                    || bytes > shape.recordBytes()
                    || replyBytes < 0
                    || replyBytes > shape.recordBytes()
                    || buffer.device() != device
                    || at < 0
                    || at > buffer.usableBytes() - bytes
                    || replyAt < 0
                    || replyAt > buffer.usableBytes() - replyBytes) {
                return PostResult.INVALID;
            }
            if (lane == null || lane.connection.failed()) {
                return PostResult.LOST;
            }
            if (!lane.hasRoom()) {
                return lane.connection.failed() ? PostResult.LOST : PostResult.FULL;
            }
            lane.call(operation, buffer, buffer.address() + at, bytes, buffer.address() + replyAt, replyBytes, tag);
            return PostResult.OK;
        } finally {
            exit();
        }
    }

    /** Sends the open batches, as far as there is room. */
    public void send() {
        enter();
        try {
            for (RpcLane lane : byServer) {
                if (lane != null) {
                    lane.connection.send();
                }
            }
        } finally {
            exit();
        }
    }

    /**
     * Hands calls that have ended to a handler. Does not wait.
     *
     * @return how many were handed over
     * @throws IllegalStateException in a handler, or if the queue is closed
     */
    public int poll(ReplyHandler handler) {
        beginPoll();
        enter();
        try {
            checkOpen();
            int handed = 0;
            for (int i = lanes.size() - 1; i >= 0; i--) {
                RpcLane lane = lanes.get(i);
                handed += lane.poll(handler);
                if (lane.underWay() == 0 && lane.detached()) {
                    lanes.remove(i);
                }
            }
            return links.hasNews()
                    ? handed + links.handNews((tag, outcome) -> handler.completed(tag, outcome, 0))
                    : handed;
        } finally {
            exit();
            endPoll();
        }
    }

    @Override
    long arm(long nanos) {
        checkOpen();
        links.listen(waker);
        // Before the looks below: a later completion raises an event, and an earlier one is found by them.
        for (RpcLane lane : lanes) {
            lane.listen();
        }
        long most = nanos;
        for (RpcLane lane : lanes) {
            if (lane.busy()) {
                most = Math.min(most, lane.requestWakeUp() ? patienceNanos : UNCERTAIN_NANOS);
            }
        }
        for (RpcLane lane : lanes) {
            if (lane.ready()) {
                return 0;
            }
        }
        return links.hasNews() ? 0 : most;
    }

    /**
     * How many calls may be made to a server before the result is {@link PostResult#FULL}; 0 without a connection. The
     * owner calls it; the answer is as of its last call, since other threads connect, and fail, connections.
     */
    public int room(RemoteServer server) {
        RpcLane lane = lane(server.index());
        return lane == null ? 0 : lane.connection.room();
    }

    /** Calls to all servers whose tags have not been returned. The owner calls it. */
    public int underWay() {
        enter();
        try {
            int sum = 0;
            for (int i = 0; i < lanes.size(); i++) {
                sum += lanes.get(i).underWay();
            }
            return sum;
        } finally {
            exit();
        }
    }

    /** Whether calls to a server are accepted, as of the owner's last call; see {@link #room}. The owner calls it. */
    public boolean connected(RemoteServer server) {
        RpcLane lane = lane(server.index());
        return lane != null && !lane.connection.failed();
    }

    @Override
    void detach(int server) {
        RpcLane lane = lane(server);
        if (lane != null) {
            byServer[server] = null;
            lane.detach();
        }
    }

    /** Calls use no regions. */
    @Override
    void fenced(int server) {}

    @Override
    void fail(int server) {
        RpcLane lane = lane(server);
        if (lane != null) {
            lane.connection.fail();
        }
    }

    @Override
    void forgetServers() {
        for (RpcLane lane : lanes) {
            lane.detach();
        }
        Arrays.fill(byServer, null);
    }

    @Override
    QueueLinkChanges<?> links() {
        return links;
    }

    @Override
    boolean uses(RegisteredBuffer buffer) {
        for (RpcLane lane : lanes) {
            if (lane.uses(buffer)) {
                return true;
            }
        }
        return false;
    }

    /** A call names no region here: the use of regions is checked by its handler. */
    @Override
    boolean uses(RemoteRegion region) {
        return false;
    }

    @Override
    void freeAll() {
        try {
            links.close();
        } finally {
            // A ring to which its server may still be writing is closed later, and the channel after it.
            CompletableFuture<Void> freed = links.closed().thenRun(channel::close);
            device.lifetime().closesLater(freed);
            if (freed.isCompletedExceptionally()) {
                freed.join();
            }
        }
    }

    private @Nullable RpcLane lane(int server) {
        // Loaded once, since another thread may replace it while the owner asks outside the gate.
        @Nullable RpcLane[] now = byServer;
        return server < now.length ? now[server] : null;
    }
}
