package io.farheap.manager.service.grpc;

import io.farheap.control.ControlException;
import io.farheap.control.grpc.EventLoop;
import io.farheap.control.plane.HostPort;
import io.grpc.HandlerRegistry;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Server;
import io.grpc.ServerCall;
import io.grpc.ServerMethodDefinition;
import io.grpc.Status;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import io.grpc.netty.shaded.io.netty.channel.EventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.socket.nio.NioServerSocketChannel;
import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Refuses every call, and names the manager that leads: UNAVAILABLE, after which callers try another manager.
 * Thread-safe.
 */
public final class StandbyServer implements AutoCloseable {

    private static final long STOP_MILLIS = 500;

    private final HostPort listen;
    private final EventLoopGroup ioThread;
    private final Server server;
    private volatile String leader = "";

    private StandbyServer(HostPort listen) {
        this.listen = listen;
        var address = listen.resolve();
        ioThread = EventLoop.start("farheap-manager-standby");
        server = NettyServerBuilder.forAddress(address)
                .channelType(NioServerSocketChannel.class)
                .bossEventLoopGroup(ioThread)
                .workerEventLoopGroup(ioThread)
                // Its calls wait for nothing.
                .directExecutor()
                .fallbackHandlerRegistry(new Refusals())
                .build();
    }

    /**
     * Binds and refuses.
     *
     * @param address HOST:PORT; port 0 takes a free one
     * @throws ControlException INVALID_ARGUMENT if the address is invalid, UNAVAILABLE if it cannot be bound
     */
    public static StandbyServer start(String address) {
        StandbyServer standby = new StandbyServer(HostPort.parse(address));
        try {
            EventLoop.listen(standby.server, address);
        } catch (Throwable e) {
            standby.close();
            throw e;
        }
        return standby;
    }

    /** HOST:PORT with the host as it was given to {@link #start} and the port that was bound. */
    public String address() {
        return new HostPort(listen.host(), server.getPort()).toString();
    }

    /** @param address of the manager that leads; empty if it is unknown */
    public void follow(String address) {
        leader = address;
    }

    private String refusal() {
        String known = leader;
        return "this cache manager, " + address() + ", stands by: "
                + (known.isEmpty() || known.equals(address())
                        ? "a leader is being elected; ask again in a moment"
                        : "ask the one that leads, " + known);
    }

    /** Gives every method the same handler. */
    private final class Refusals extends HandlerRegistry {

        @Override
        public ServerMethodDefinition<?, ?> lookupMethod(String name, @Nullable String authority) {
            return ServerMethodDefinition.create(
                    MethodDescriptor.<InputStream, InputStream>newBuilder()
                            .setType(MethodDescriptor.MethodType.UNKNOWN)
                            .setFullMethodName(name)
                            .setRequestMarshaller(new RawMarshaller())
                            .setResponseMarshaller(new RawMarshaller())
                            .build(),
                    (call, _) -> {
                        call.close(Status.UNAVAILABLE.withDescription(refusal()), new Metadata());
                        return new ServerCall.Listener<>() {};
                    });
        }
    }

    /** Does not parse messages, and sends none. */
    private static final class RawMarshaller implements MethodDescriptor.Marshaller<InputStream> {

        @Override
        public InputStream stream(InputStream value) {
            return value;
        }

        @Override
        public InputStream parse(InputStream stream) {
            return new ByteArrayInputStream(new byte[0]);
        }
    }

    /** Idempotent. */
    @Override
    public void close() {
        server.shutdownNow();
        try {
            server.awaitTermination(STOP_MILLIS, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        EventLoop.stop(ioThread);
    }
}
