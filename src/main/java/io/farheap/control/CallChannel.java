package io.farheap.control;

import io.farheap.control.ControlException.Code;
import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.shaded.io.netty.channel.EventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.socket.nio.NioSocketChannel;
import io.grpc.stub.AbstractStub;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

/**
 * A gRPC channel to one process, with an I/O thread of its own, whose failures are {@link ControlException}s. Calls
 * block the calling thread and can be interrupted. Thread-safe.
 */
public final class CallChannel implements AutoCloseable {

    /** How many times slower than a real one the machine may be: emulated processors need their time. */
    private static final int SLOWNESS = Integer.getInteger("farheap.slowness", 1);

    private static final long STOP_MILLIS = 500;
    private static final int MAX_REASON_LENGTH = 1000;

    private final String peer;
    private final EventLoopGroup ioThread;
    private final ManagedChannel channel;

    /**
     * Does not connect yet.
     *
     * @param what the peer is, for messages, such as "memory server"
     * @param threadName the I/O thread's
     * @param maxReplyBytes of one message from the peer
     * @throws ControlException UNAVAILABLE where the host has no address
     */
    public CallChannel(String what, HostPort address, String threadName, int maxReplyBytes) {
        ProtobufRuntime.require();
        peer = what + " " + address;
        InetSocketAddress resolved = address.resolve();
        ioThread = EventLoop.start(threadName);
        channel = NettyChannelBuilder.forAddress(resolved)
                .channelType(NioSocketChannel.class)
                .eventLoopGroup(ioThread)
                .directExecutor()
                .proxyDetector(target -> null)
                .disableRetry()
                .maxInboundMessageSize(maxReplyBytes)
                .usePlaintext()
                .build();
    }

    /** What it is and where, for messages. */
    public String peer() {
        return peer;
    }

    /** For stubs. */
    public ManagedChannel channel() {
        return channel;
    }

    /** A call's time limit: so many ms on a machine that is not emulated, in ns. */
    static long nanos(long millis) {
        return TimeUnit.MILLISECONDS.toNanos(millis) * SLOWNESS;
    }

    /**
     * @param millis after which a call ends with DEADLINE_EXCEEDED, more on an emulated machine
     * @throws ControlException with the peer's code; UNAVAILABLE, DEADLINE_EXCEEDED or CANCELLED
     */
    public <S extends AbstractStub<S>, R> R call(S stub, long millis, Function<S, R> call) {
        return callWithin(stub, nanos(millis), call);
    }

    <S extends AbstractStub<S>, R> R callWithin(S stub, long nanos, Function<S, R> call) {
        try {
            return call.apply(stub.withDeadlineAfter(nanos, TimeUnit.NANOSECONDS));
        } catch (StatusRuntimeException e) {
            throw failure(e, TimeUnit.NANOSECONDS.toMillis(nanos));
        }
    }

    /** Why a stream has ended that the peer or the network ended. */
    public ControlException failure(Throwable e) {
        return failure(Status.fromThrowable(e).asRuntimeException(), 0);
    }

    private ControlException failure(StatusRuntimeException e, long deadlineMillis) {
        Code code =
                channel.isShutdown() ? Code.CANCELLED : Codes.code(e.getStatus().getCode());
        String description = e.getStatus().getDescription();
        String reason = description == null
                ? e.getStatus().getCode().name()
                : Printable.escaped(description, MAX_REASON_LENGTH);
        String message =
                switch (code) {
                    case UNAVAILABLE -> {
                        channel.resetConnectBackoff();
                        yield peer + " cannot be reached: " + rootMessage(e, reason);
                    }
                    case DEADLINE_EXCEEDED -> peer + " has not answered within " + deadlineMillis + " ms";
                    case CANCELLED ->
                        "the call of " + peer + " was abandoned: "
                                + (channel.isShutdown() ? "this client is closed" : reason);
                    default -> peer + ": " + reason;
                };
        return new ControlException(code, message, e);
    }

    private static String rootMessage(Throwable e, String otherwise) {
        Throwable root = e;
        while (root.getCause() != null) {
            root = root.getCause();
        }
        return root == e || root.getMessage() == null ? otherwise : root.getMessage();
    }

    /** Calls under way end with code CANCELLED, and so does every later one, at once. */
    public void abandon() {
        channel.shutdownNow();
    }

    /** As {@link #abandon}, and ends the thread. Idempotent. */
    @Override
    public void close() {
        channel.shutdownNow();
        try {
            channel.awaitTermination(STOP_MILLIS, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        EventLoop.stop(ioThread);
    }
}
