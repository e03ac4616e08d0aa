package io.farheap.cache.batch;

import io.farheap.cache.contract.CacheConfiguration;
import io.farheap.cache.onesided.RequestRecovery;
import io.farheap.cache.route.MigrationLinks;
import io.farheap.cache.route.SessionLinks;
import io.farheap.remote.contract.RemoteRegion;
import io.farheap.remote.contract.RemoteServer;
import io.farheap.remote.server.LeasedServer;
import io.farheap.remote.server.ServerRing;
import io.farheap.rpc.RingShape;
import io.farheap.rpc.batch.BatchConnection;
import io.farheap.thread.OwnerGate;
import io.farheap.verbs.CompletionChannel;
import io.farheap.verbs.Context;

/** A session's message rings, one pair to each server, beside its connections for one-sided operations. */
public final class SessionRings extends SessionLinks<ServerRing> {

    private final SessionBatches batches;
    private final Context context;
    private final CompletionChannel channel;
    private final CacheConfiguration configuration;
    private final RingShape shape;
    private final RequestRecovery recovery;
    /** The mark up to which the latest drain awaits answers. */
    private long drainMark;

    public SessionRings(
            MigrationLinks direct,
            OwnerGate gate,
            SessionBatches batches,
            Context context,
            CompletionChannel channel,
            CacheConfiguration configuration,
            RequestRecovery recovery) {
        super(direct, gate);
        this.recovery = recovery;
        this.batches = batches;
        this.context = context;
        this.channel = channel;
        this.configuration = configuration;
        this.shape =
                new RingShape(Math.min(configuration.queueDepth(), RingShape.MAX_QUEUE_DEPTH), configuration.batch());
    }

    @Override
    public ServerRing open(RemoteServer server) {
        return LeasedServer.of(server)
                .connectRing(context, channel, shape, configuration.serverThreads(), configuration.inlineBytes());
    }

    @Override
    public void use(RemoteServer server, ServerRing made) {
        batches.add(server, made);
        // As for a connection.
        recovery.tell();
    }

    @Override
    public void abandoned(RemoteServer server) {
        recovery.forget(server);
    }

    @Override
    public void wake() {
        recovery.tell();
    }

    @Override
    public void leave(RemoteServer server, ServerRing end) {
        end.connection().fail();
        batches.remove(server.index());
    }

    /** The session reads the rings until it has taken all answers. */
    @Override
    public boolean hasTaken(ServerRing end) {
        return end.connection().isIdle();
    }

    @Override
    public boolean usable(int server) {
        BatchConnection connection = batches.connection(server);
        // A drain asks: behind it, requests may go to the region's new place.
        batches.loseFailed(server);
        return connection != null && !connection.failed();
    }

    @Override
    public boolean idle(int server) {
        BatchConnection connection = batches.connection(server);
        return connection != null && connection.isAnswered() && !connection.failed();
    }

    @Override
    public void fail(RemoteServer server) {
        BatchConnection connection = batches.connection(server.index());
        if (connection != null) {
            connection.fail();
        }
    }

    /** Sends open batches, so that the drain includes their requests. */
    // There are rings: the caller has checked usable.
    @Override
    @SuppressWarnings("NullAway")
    public Drain beginDrain(RemoteRegion region) {
        BatchConnection connection = batches.connection(region.serverIndex());
        drainMark = connection.mark();
        boolean done = receive(connection);
        batches.loseFailed(region.serverIndex());
        return connection.failed() ? Drain.UNKNOWN : done ? Drain.DONE : Drain.UNDER_WAY;
    }

    @Override
    public boolean endsDrain(int server) {
        BatchConnection connection = batches.connection(server);
        return connection != null && (connection.answered(drainMark) || receive(connection));
    }

    private boolean receive(BatchConnection connection) {
        connection.send();
        connection.receive();
        return connection.answered(drainMark);
    }
}
