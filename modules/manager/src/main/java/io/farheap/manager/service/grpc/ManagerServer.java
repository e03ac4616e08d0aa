package io.farheap.manager.service.grpc;

import io.farheap.control.ControlException;
import io.farheap.control.grpc.EventLoop;
import io.farheap.control.grpc.ProtobufRuntime;
import io.farheap.control.plane.HostPort;
import io.farheap.manager.service.ClusterManager;
import io.farheap.manager.service.grant.GrantSigner;
import io.grpc.Server;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import io.grpc.netty.shaded.io.netty.channel.EventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.socket.nio.NioServerSocketChannel;
import java.net.InetSocketAddress;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/**
 * Serves a {@link ClusterManager} over gRPC, and calls its {@link ClusterManager#tick}. Thread-safe. It does not own
 * the cluster's store: the caller that made the store closes it, after this.
 */
public final class ManagerServer implements AutoCloseable {

    private static final System.Logger LOG = System.getLogger(ManagerServer.class.getName());
    /** The most calls at once of one client process: those of its caches, and of its threads that create caches. */
    private static final int CONNECTION_CALLS = 256;

    private static final long TICK_MILLIS = 250;
    private static final long STOP_MILLIS = 500;
    /** Room for the report of a server with a lease for each of as many caches as it has regions. */
    private static final int MAX_MESSAGE_BYTES = 16 << 20;

    private final HostPort listen;
    private final ClusterManager cluster;
    private final EventLoopGroup ioThread;
    /** Runs calls, each on a virtual thread of its own: many of them wait for one write to disk. */
    private final ExecutorService calls;

    private final ScheduledExecutorService ticks;
    /** Whether the last tick was refused. The thread of the ticks. */
    private boolean refused;

    private final Server server;

    private ManagerServer(HostPort listen, ClusterManager cluster, GrantSigner grants) {
        this.listen = listen;
        this.cluster = cluster;
        InetSocketAddress address = listen.resolve();
        ioThread = EventLoop.start("farheap-manager-server");
        calls = Executors.newThreadPerTaskExecutor(
                Thread.ofVirtual().name("farheap-manager-call").factory());
        ticks = Executors.newSingleThreadScheduledExecutor(
                Thread.ofPlatform().name("farheap-manager-tick").daemon().factory());
        server = NettyServerBuilder.forAddress(address)
                .channelType(NioServerSocketChannel.class)
                .bossEventLoopGroup(ioThread)
                .workerEventLoopGroup(ioThread)
                .executor(calls)
                .maxConcurrentCallsPerConnection(CONNECTION_CALLS)
                .maxInboundMessageSize(MAX_MESSAGE_BYTES)
                .addService(new ManagerService(cluster, grants))
                .build();
    }

    /**
     * Binds and serves.
     *
     * @param address HOST:PORT; port 0 takes a free one
     * @param grants signs for the epoch of the cluster's store
     * @throws ControlException INVALID_ARGUMENT if the address is invalid, UNAVAILABLE if it cannot be bound
     */
    public static ManagerServer start(String address, ClusterManager cluster, GrantSigner grants) {
        ProtobufRuntime.require();
        ManagerServer manager = new ManagerServer(HostPort.parse(address), cluster, grants);
        try {
            EventLoop.listen(manager.server, address);
        } catch (Throwable e) {
            manager.close();
            throw e;
        }
        manager.ticks.scheduleWithFixedDelay(manager::tick, TICK_MILLIS, TICK_MILLIS, TimeUnit.MILLISECONDS);
        return manager;
    }

    ClusterManager cluster() {
        return cluster;
    }

    private void tick() {
        try {
            cluster.tick();
            if (refused) {
                LOG.log(System.Logger.Level.INFO, "the manager's periodic work continues");
            }
            refused = false;
        } catch (ControlException e) {
            // While the state cannot be written or read, each tick is refused.
            if (!refused) {
                LOG.log(
                        System.Logger.Level.WARNING,
                        "the manager's periodic work waits, and is tried again several times a second: "
                                + e.getMessage());
            }
            refused = true;
        } catch (Throwable e) {
            // The next tick tries again; an exception would end the ticks.
            LOG.log(System.Logger.Level.ERROR, "the manager's periodic work has failed; the next tick repeats it", e);
        }
    }

    /** HOST:PORT with the host as it was given to {@link #start} and the port that was bound. */
    public String address() {
        return new HostPort(listen.host(), server.getPort()).toString();
    }

    /** Ends calls under way, and its threads. Idempotent. */
    @Override
    public void close() {
        server.shutdownNow();
        ticks.shutdownNow();
        try {
            // Before the threads are stopped: the tasks that end the server's calls run on them.
            server.awaitTermination(STOP_MILLIS, TimeUnit.MILLISECONDS);
            calls.shutdownNow();
            ticks.awaitTermination(STOP_MILLIS, TimeUnit.MILLISECONDS);
            calls.awaitTermination(STOP_MILLIS, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            calls.shutdownNow();
        }
        EventLoop.stop(ioThread);
    }
}
