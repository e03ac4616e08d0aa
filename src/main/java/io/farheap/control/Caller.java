package io.farheap.control;

import io.grpc.Context;
import io.grpc.Contexts;
import io.grpc.Grpc;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import org.jspecify.annotations.Nullable;

/**
 * Who calls a {@link ControlPlane} over the network, so that one client cannot take what others need.
 *
 * @param host the peer's address: what a client can have only so many of
 * @param connection one of the host's, with its port: one client process with all of its caches, as a rule
 */
public record Caller(String host, String connection) {

    private static final Context.Key<Caller> KEY = Context.key("farheap-caller");

    /** Of the call that this thread serves, or null: then the caller is in this process. */
    public static @Nullable Caller current() {
        return KEY.get();
    }

    /** Runs something on a caller's behalf, which goes on where the call is cancelled. */
    static void run(Caller caller, Runnable action) {
        Context.ROOT.withValue(KEY, caller).run(action);
    }

    static ServerInterceptor interceptor() {
        return new ServerInterceptor() {
            @Override
            public <Q, R> ServerCall.Listener<Q> interceptCall(
                    ServerCall<Q, R> call, Metadata headers, ServerCallHandler<Q, R> next) {
                Caller caller = of(call.getAttributes().get(Grpc.TRANSPORT_ATTR_REMOTE_ADDR));
                return Contexts.interceptCall(Context.current().withValue(KEY, caller), call, headers, next);
            }
        };
    }

    private static Caller of(SocketAddress peer) {
        String host = peer instanceof InetSocketAddress internet
                ? internet.getAddress().getHostAddress()
                : String.valueOf(peer);
        return new Caller(host, String.valueOf(peer));
    }
}
