package io.farheap.control.grpc;

import io.farheap.control.ControlException;
import io.farheap.control.plane.ControlPlane;
import io.farheap.control.plane.HostPort;
import io.farheap.control.threads.CallKind;
import io.farheap.control.threads.CallThreads;
import io.grpc.Server;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import io.grpc.netty.shaded.io.netty.channel.EventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.socket.nio.NioServerSocketChannel;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;

/**
 * Serves a {@link ControlPlane} over gRPC.
 *
 * <p>It has one I/O thread, and {@linkplain CallKind call threads}: a pull or the zeroing of a region takes long, and
 * must not delay the renewals of other leases. The number of calls in progress and waiting is limited, in total and for
 * each host, connection and lease, and so is the size of a message.
 *
 * <p>Thread-safe. It does not own the plane: the plane's creator closes it, after this.
 */
public final class ControlServer implements AutoCloseable {

    /**
     * More calls than may be in progress and waiting: so a client receives BUSY from those limits, and its renewals do
     * not wait for this limit of gRPC.
     */
    public static final int MAX_CALLS_PER_CONNECTION = 4096;
    /** Twice the space that the longest name and the longest address of another server need. */
    private static final int MAX_MESSAGE_BYTES = 4 * 1024;

    private static final int MAX_HEADER_BYTES = 8 * 1024;
    private static final long PROBE_SECONDS = 20;
    private static final long STOP_MILLIS = 500;

    private final HostPort listen;
    private final EventLoopGroup ioThread;
    private final CallThreads callThreads = new CallThreads();
    private final Server server;

    private ControlServer(HostPort listen, ControlPlane plane) {
        this.listen = listen;
        InetSocketAddress address = listen.resolve();
        ioThread = EventLoop.start("farheap-control-server");
        server = NettyServerBuilder.forAddress(address)
                .channelType(NioServerSocketChannel.class)
                .bossEventLoopGroup(ioThread)
                .workerEventLoopGroup(ioThread)
                .directExecutor()
                .maxConcurrentCallsPerConnection(MAX_CALLS_PER_CONNECTION)
                .maxInboundMessageSize(MAX_MESSAGE_BYTES)
                .maxInboundMetadataSize(MAX_HEADER_BYTES)
                .keepAliveTime(PROBE_SECONDS, TimeUnit.SECONDS)
                .intercept(new IncomingCalls())
                .addService(new ControlService(plane, callThreads))
                .addService(new SpaceService(plane.spaces(), callThreads))
                .build();
    }

    /**
     * Binds and serves.
     *
     * @param address HOST:PORT; port 0 takes a free one
     * @throws ControlException INVALID_ARGUMENT if that is not an address, UNAVAILABLE if it cannot be bound
     */
    public static ControlServer start(String address, ControlPlane plane) {
        ProtobufRuntime.require();
        ControlServer server = new ControlServer(HostPort.parse(address), plane);
        try {
            EventLoop.listen(server.server, address);
            return server;
        } catch (Throwable e) {
            server.close();
            throw e;
        }
    }

    /** HOST:PORT with the host as it was given to {@link #start} and the port that was bound. */
    public String address() {
        return new HostPort(listen.host(), server.getPort()).toString();
    }

    /**
     * Refuses new calls, gives those in progress {@value #STOP_MILLIS} ms, interrupts the rest, and ends its threads.
     * Idempotent.
     */
    @Override
    public void close() {
        server.shutdown();
        boolean interrupted = !await(server::awaitTermination);
        server.shutdownNow();
        callThreads.stop();
        interrupted |= !await(server::awaitTermination);
        interrupted |= !await(callThreads::awaitTermination);
        EventLoop.stop(ioThread);
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** Returns false if the calling thread was interrupted. */
    private static boolean await(Termination termination) {
        try {
            termination.await(STOP_MILLIS, TimeUnit.MILLISECONDS);
            return true;
        } catch (InterruptedException e) {
            return false;
        }
    }

    private interface Termination {
        boolean await(long timeout, TimeUnit unit) throws InterruptedException;
    }
}
