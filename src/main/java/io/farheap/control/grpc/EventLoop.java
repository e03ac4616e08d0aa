package io.farheap.control.grpc;

import io.farheap.control.ControlException;
import io.farheap.control.ControlException.Code;
import io.grpc.Server;
import io.grpc.netty.shaded.io.netty.channel.EventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.nio.NioEventLoopGroup;
import java.io.IOException;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;

/**
 * The one I/O thread of a client or server, and the code by which a server begins to listen. gRPC's own event loops are
 * shared by the process and outlive their users, so each side creates its own and ends it.
 */
public final class EventLoop {

    private static final long STOP_MILLIS = 1000;

    private EventLoop() {}

    /** Netty 4.2 deprecates this class; 4.1, which other versions of gRPC bring along, has no other. */
    @SuppressWarnings("deprecation")
    public static EventLoopGroup start(String threadName) {
        ThreadFactory threads = Thread.ofPlatform().daemon().name(threadName).factory();
        return new NioEventLoopGroup(1, threads);
    }

    /**
     * Binds a server and serves.
     *
     * @param address as it was given, for messages
     * @throws ControlException UNAVAILABLE if it cannot be bound
     */
    public static void listen(Server server, String address) {
        try {
            server.start();
        } catch (IOException e) {
            Throwable reason = e.getCause() == null ? e : e.getCause();
            throw new ControlException(
                    Code.UNAVAILABLE,
                    "cannot listen on " + address + ": " + reason.getMessage()
                            + "; choose another address, or port 0 for a free port",
                    e);
        }
    }

    /** Ends the thread; returns when it has ended, or after {@value #STOP_MILLIS} ms. */
    public static void stop(EventLoopGroup group) {
        group.shutdownGracefully(0, STOP_MILLIS, TimeUnit.MILLISECONDS).awaitUninterruptibly(STOP_MILLIS);
    }
}
