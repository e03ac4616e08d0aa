package io.farheap.cache.onesided;

import io.farheap.cache.contract.CacheConfiguration;
import io.farheap.cache.route.MigrationLinks;
import io.farheap.cache.route.Routes;
import io.farheap.cache.route.SessionLinks;
import io.farheap.connection.Connection;
import io.farheap.connection.ConnectionNumbers;
import io.farheap.memory.RegisteredMemory;
import io.farheap.remote.contract.RemoteRegion;
import io.farheap.remote.contract.RemoteServer;
import io.farheap.remote.queue.QueuePoster;
import io.farheap.remote.server.LeasedServer;
import io.farheap.remote.server.ServerConnection;
import io.farheap.thread.OwnerGate;
import io.farheap.verbs.CompletionQueue;
import io.farheap.verbs.ProtectionDomain;

/** A session's connections for one-sided operations, one to each server. */
public final class SessionConnections extends SessionLinks<ServerConnection> {

    private final QueuePoster queue;
    private final Routes routes;
    private final CompletionQueue completions;
    private final ProtectionDomain domain;
    private final RegisteredMemory scratch;
    private final CacheConfiguration configuration;
    private final int doorbellBatch;
    private final RequestRecovery recovery;
    private final ConnectionNumbers numbers = new ConnectionNumbers();

    /**
     * @param scratch registered memory that the READs of drains write to
     * @param recovery of the session's requests
     */
    public SessionConnections(
            OwnerGate gate,
            QueuePoster queue,
            Routes routes,
            CompletionQueue completions,
            ProtectionDomain domain,
            RegisteredMemory scratch,
            CacheConfiguration configuration,
            int doorbellBatch,
            RequestRecovery recovery) {
        super(MigrationLinks.NONE, gate);
        this.queue = queue;
        this.routes = routes;
        this.completions = completions;
        this.domain = domain;
        this.scratch = scratch;
        this.configuration = configuration;
        this.doorbellBatch = doorbellBatch;
        this.recovery = recovery;
    }

    @Override
    public ServerConnection open(RemoteServer server) {
        return numbers.connect(this::forget, number -> LeasedServer.of(server)
                .connect(
                        domain,
                        completions,
                        number,
                        configuration.queueDepth(),
                        configuration.inlineBytes(),
                        doorbellBatch));
    }

    private boolean forget(int number) {
        gate.claim();
        try {
            return queue.forget(number);
        } finally {
            gate.unclaim();
        }
    }

    @Override
    public void use(RemoteServer server, ServerConnection made) {
        queue.add(server.index(), made.connection());
        recovery.used(server, made);
        // Another thread may have made it before the link's back-off had ended.
        recovery.tell();
    }

    @Override
    public void leave(RemoteServer server, ServerConnection end) {
        queue.detach(server.index(), DRAIN_TIMEOUT_NANOS);
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
    public void ended(ServerConnection end) {
        numbers.end(end.connection().number());
    }

    @Override
    public boolean usable(int server) {
        Connection connection = routes.connection(server);
        return connection != null && !connection.failed();
    }

    @Override
    public boolean idle(int server) {
        Connection connection = routes.connection(server);
        return connection != null && connection.inFlight() == 0 && !connection.failed();
    }

    @Override
    public void fail(RemoteServer server) {
        queue.fail(server.index());
    }

    // There is a connection: the caller has checked usable.
    @Override
    @SuppressWarnings("NullAway")
    public Drain beginDrain(RemoteRegion region) {
        Connection connection = routes.connection(region.serverIndex());
        if (!queue.drain(connection, region, scratch.address(), scratch.localKey())) {
            return Drain.UNKNOWN;
        }
        return connection.flushing() ? Drain.UNDER_WAY : Drain.DONE;
    }

    @Override
    public boolean endsDrain(int server) {
        Connection connection = routes.connection(server);
        return connection == null || queue.drained(connection);
    }
}
