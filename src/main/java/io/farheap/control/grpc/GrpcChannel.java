package io.farheap.control.grpc;

import io.grpc.ConnectivityState;
import io.grpc.ManagedChannel;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.shaded.io.netty.channel.EventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.socket.nio.NioSocketChannel;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;

/**
 * gRPC's channel to one address, with an I/O thread of its own. It connects at the first call, and again after its
 * connection has ended. One {@link CallChannel} owns it, or several share it ({@link SharedServerChannel}).
 * Thread-safe.
 */
final class GrpcChannel implements AutoCloseable {

    private static final long STOP_MILLIS = 500;

    private final EventLoopGroup ioThread;
    private final ManagedChannel calls;
    /**
     * {@code nanoTime} when the peer last answered a call. This and {@code silent} are two fields, and an answer may
     * arrive between the load of one and the store to the other: then the channel counts as silent until the next
     * answer, which costs a client that connects meanwhile a connection of its own.
     */
    private volatile long heardAt = System.nanoTime();

    private volatile boolean silent;
    /** Whether the peer has ever answered a call. */
    private volatile boolean answered;

    /** Does not connect yet. */
    GrpcChannel(InetSocketAddress address, String threadName, int maxReplyBytes) {
        ioThread = EventLoop.start(threadName);
        calls = NettyChannelBuilder.forAddress(address)
                .channelType(NioSocketChannel.class)
                .eventLoopGroup(ioThread)
                .directExecutor()
                .proxyDetector(target -> null)
                .disableRetry()
                .maxInboundMessageSize(maxReplyBytes)
                .usePlaintext()
                .build();
    }

    /** For stubs. */
    ManagedChannel calls() {
        return calls;
    }

    /** Makes the next call try to connect without waiting for gRPC's backoff. */
    void tryAgain() {
        calls.resetConnectBackoff();
    }

    /**
     * Makes the next call find out whether the peer is there now: otherwise it fails at once, as the last attempt to
     * connect did, however long ago that was. An existing connection stays.
     */
    void connectAnew() {
        if (calls.getState(false) == ConnectivityState.TRANSIENT_FAILURE) {
            calls.enterIdle();
        }
    }

    /**
     * Runs a task once when the connection has ended, at once if there is none. On gRPC's I/O thread or on the calling
     * thread: the task must not wait.
     */
    void onceDisconnected(Runnable task) {
        calls.notifyWhenStateChanged(ConnectivityState.READY, task);
    }

    /** The peer has answered a call. */
    void heard() {
        heardAt = System.nanoTime();
        silent = false;
        answered = true;
    }

    /** Whether the peer has ever answered a call, so that it is a process of Farheap's. */
    boolean answered() {
        return answered;
    }

    /** A call has passed its deadline. */
    void unheard(long sentAt) {
        if (heardAt - sentAt < 0) {
            silent = true;
        }
    }

    /**
     * Whether a call has passed its deadline and nothing at all has been received since it was sent: the process at the
     * other end is stopped, or its machine is gone without closing the connection, which TCP may not notice for
     * minutes.
     */
    boolean silent() {
        return silent;
    }

    /** Ends calls in progress; every later call fails in the same way, at once. */
    void shutdown() {
        calls.shutdownNow();
    }

    /** As {@link #shutdown}, and ends the thread. Idempotent. */
    @Override
    public void close() {
        calls.shutdownNow();
        try {
            calls.awaitTermination(STOP_MILLIS, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        EventLoop.stop(ioThread);
    }
}
