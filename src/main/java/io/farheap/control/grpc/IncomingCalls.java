package io.farheap.control.grpc;

import io.farheap.control.plane.Caller;
import io.grpc.Context;
import io.grpc.Contexts;
import io.grpc.Grpc;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.Objects;

/** Determines the caller of each call that a server receives. */
final class IncomingCalls implements ServerInterceptor {

    private static final Context.Key<Caller> KEY = Context.key("farheap-caller");

    /** The caller of the call that gRPC delivers on this thread. */
    static Caller caller() {
        return Objects.requireNonNull(KEY.get(), "the call has no caller");
    }

    @Override
    public <Q, R> ServerCall.Listener<Q> interceptCall(
            ServerCall<Q, R> call, Metadata headers, ServerCallHandler<Q, R> next) {
        Caller caller = of(call.getAttributes().get(Grpc.TRANSPORT_ATTR_REMOTE_ADDR));
        return Contexts.interceptCall(Context.current().withValue(KEY, caller), call, headers, next);
    }

    private static Caller of(SocketAddress peer) {
        String host = peer instanceof InetSocketAddress internet
                ? internet.getAddress().getHostAddress()
                : String.valueOf(peer);
        return new Caller(host, String.valueOf(peer));
    }
}
