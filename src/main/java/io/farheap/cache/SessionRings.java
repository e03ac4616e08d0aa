package io.farheap.cache;

import io.farheap.remote.RemoteRegion;
import io.farheap.remote.RemoteServer;
import io.farheap.remote.ServerRing;
import io.farheap.rpc.BatchConnection;
import io.farheap.rpc.RingShape;
import io.farheap.thread.OwnerGate;
import io.farheap.verbs.CompletionChannel;
import io.farheap.verbs.Context;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** A session's message rings, one pair to each server, beside its connections for one-sided operations. */
final class SessionRings extends ServerLinks<ServerRing> {

    private final SessionBatches batches;
    private final Context context;
    private final CompletionChannel channel;
    private final CacheConfiguration configuration;
    private final RingShape shape;
    /**
     * Disconnected; their last answers may not have been taken yet. Changed under {@code changing}, with the gate
     * claimed.
     */
    private final List<ServerRing> retired = new ArrayList<>();
    /** Of rings that a silent server would not let go of. Guarded by {@code changing}. */
    private final List<CompletableFuture<Void>> late = new ArrayList<>();
    /** What the latest drain awaits. */
    private long drainMark;

    SessionRings(
            Links direct,
            OwnerGate gate,
            SessionBatches batches,
            Context context,
            CompletionChannel channel,
            CacheConfiguration configuration) {
        super(direct, gate);
        this.batches = batches;
        this.context = context;
        this.channel = channel;
        this.configuration = configuration;
        this.shape =
                new RingShape(Math.min(configuration.queueDepth(), RingShape.MAX_QUEUE_DEPTH), configuration.batch());
    }

    @Override
    public CompletableFuture<Void> closed() {
        changing.lock();
        try {
            return CompletableFuture.allOf(late.toArray(CompletableFuture[]::new));
        } finally {
            changing.unlock();
        }
    }

    @Override
    ServerRing open(RemoteServer server) {
        return server.connectRing(context, channel, shape, configuration.serverThreads(), configuration.inlineBytes());
    }

    @Override
    void use(int server, ServerRing end) {
        batches.add(server, end.connection());
    }

    @Override
    void remove(int server, ServerRing end) {
        end.connection().fail();
        batches.remove(server);
        retired.add(end);
    }

    /** It is closed when the session has taken what was answered. */
    @Override
    void finish(ServerRing end) {
        end.disconnect();
        List<ServerRing> finished = new ArrayList<>();
        gate.claimed(() -> {
            for (ServerRing ring : retired) {
                if (ring.connection().isIdle()) {
                    finished.add(ring);
                }
            }
            retired.removeAll(finished);
        });
        closeAll(finished);
    }

    @Override
    List<ServerRing> finished() {
        return retired;
    }

    @Override
    void close(ServerRing end) {
        end.close();
        late.removeIf(CompletableFuture::isDone);
        if (!end.closed().isDone()) {
            late.add(end.closed());
        }
    }

    @Override
    boolean usable(int server) {
        BatchConnection connection = batches.connection(server);
        return connection != null && !connection.failed();
    }

    @Override
    boolean idle(int server) {
        BatchConnection connection = batches.connection(server);
        return connection != null && connection.isAnswered() && !connection.failed();
    }

    @Override
    void fail(int server) {
        BatchConnection connection = batches.connection(server);
        if (connection != null) {
            connection.fail();
        }
    }

    @Override
    boolean failed(ServerRing end) {
        return end.connection().failed();
    }

    /** What waits in a batch is sent. */
    // There are rings, as usable has said.
    @Override
    @SuppressWarnings("NullAway")
    Drain beginDrain(RemoteRegion region) {
        BatchConnection connection = batches.connection(region.serverIndex());
        drainMark = connection.mark();
        boolean done = receive(connection);
        return connection.failed() ? Drain.UNKNOWN : done ? Drain.DONE : Drain.UNDER_WAY;
    }

    @Override
    boolean endsDrain(int server) {
        BatchConnection connection = batches.connection(server);
        return connection != null && (connection.answered(drainMark) || receive(connection));
    }

    private boolean receive(BatchConnection connection) {
        connection.send();
        connection.receive();
        return connection.answered(drainMark);
    }
}
