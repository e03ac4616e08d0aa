package io.farheap.control.grpc;

import io.farheap.control.ControlException;
import io.farheap.control.ControlException.Code;
import io.farheap.control.plane.ControlPlane;
import io.farheap.control.plane.HostPort;
import io.farheap.control.text.PrintableText;
import io.farheap.time.TimeLimit;
import io.grpc.Context;
import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.AbstractStub;
import io.grpc.stub.StreamObserver;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * One client's calls of one process; they fail with {@link ControlException}s. The gRPC channel below, with its I/O
 * thread, belongs to this client or is shared with other clients of this process, and each client ends only its own
 * calls. Thread-safe.
 *
 * <p>Calls carry a gRPC context of the client's own, so that they can be ended together, and no other calls with them.
 * The context is not derived from the calling thread's context: if an application calls while it serves a call, the end
 * of that call does not end this one.
 */
public final class CallChannel implements AutoCloseable {

    private static final int MAX_REASON_LENGTH = 1000;

    /** As gRPC describes a call that its server does not have. */
    private static final Pattern UNKNOWN_HELLO = Pattern.compile("Method not found: .*/Hello");

    /** As gRPC describes bytes that are not HTTP/2, such as the answer of an HTTP/1.1 server. */
    private static final String NOT_HTTP2 = "http2 exception";

    private static final String OTHER_REMEDY = "another service answers there; memory servers (--servers, "
            + "CacheBuilder.servers) and cache managers (--manager, CacheBuilder.manager) have different ports, which "
            + "'farheap server' and 'farheap manager' print when they start";

    private final String what;
    private final HostPort address;
    private final String peer;
    private final GrpcChannel channel;
    private final @Nullable SharedServerChannel shared;
    private final Context.CancellableContext calls = Context.ROOT.withCancellation();
    private final AtomicBoolean closed = new AtomicBoolean();

    /**
     * A channel with a connection of its own, which is made at the first call.
     *
     * @param what names the peer in messages, such as "memory server"
     * @param threadName of the I/O thread
     * @param maxReplyBytes most bytes of one message from the peer
     * @throws ControlException UNAVAILABLE if the host has no address, or none of several can be connected to
     */
    public CallChannel(String what, HostPort address, String threadName, int maxReplyBytes) {
        ProtobufRuntime.require();
        this.what = what;
        this.address = address;
        peer = what + " " + address;
        channel = new GrpcChannel(address.reach(what), threadName, maxReplyBytes);
        shared = null;
    }

    /**
     * A channel over a shared connection.
     *
     * @param shared the connection; this is its user until it is closed
     */
    CallChannel(String what, HostPort address, SharedServerChannel shared) {
        this.what = what;
        this.address = address;
        peer = what + " " + address;
        channel = shared.channel();
        this.shared = shared;
    }

    /** Name and address of the peer, for messages. */
    public String peer() {
        return peer;
    }

    /** For stubs. */
    public ManagedChannel channel() {
        return channel.calls();
    }

    /** As {@link GrpcChannel#connectAnew}. */
    void connectAnew() {
        channel.connectAnew();
    }

    /** As {@link GrpcChannel#onceDisconnected}. */
    void onceDisconnected(Runnable task) {
        channel.onceDisconnected(task);
    }

    /** The connection that it shares with other clients, or null. */
    @Nullable
    SharedServerChannel shared() {
        return shared;
    }

    /** A call's time limit in ns, for a limit in ms on a machine that is not emulated. */
    static long nanos(long millis) {
        return TimeLimit.of(TimeUnit.MILLISECONDS.toNanos(millis));
    }

    /**
     * Makes a call; blocks the calling thread, and can be interrupted.
     *
     * @param millis after which a call ends with DEADLINE_EXCEEDED, more on an emulated machine
     * @throws ControlException with the peer's code; UNAVAILABLE, DEADLINE_EXCEEDED or CANCELLED
     */
    public <S extends AbstractStub<S>, R> R call(S stub, long millis, Function<S, R> call) {
        return callWithin(stub, nanos(millis), call);
    }

    <S extends AbstractStub<S>, R> R callWithin(S stub, long nanos, Function<S, R> call) {
        long sentAt = System.nanoTime();
        Context before = calls.attach();
        try {
            R reply = call.apply(stub.withDeadlineAfter(nanos, TimeUnit.NANOSECONDS));
            channel.heard();
            return reply;
        } catch (StatusRuntimeException e) {
            throw failure(e, nanos, sentAt);
        } finally {
            calls.detach(before);
        }
    }

    /**
     * Begins a call, and does not wait for its reply.
     *
     * @param call receives a stub, and the observer of the reply
     * @param ended called once with the failure, or null for success: on gRPC's I/O thread, on the calling thread, or
     *     on a thread that {@linkplain #abandon abandons} it; it must not wait
     */
    <S extends AbstractStub<S>, R> void begin(
            S stub, long nanos, BiConsumer<S, StreamObserver<R>> call, Consumer<@Nullable ControlException> ended) {
        long sentAt = System.nanoTime();
        Context before = calls.attach();
        try {
            call.accept(stub.withDeadlineAfter(nanos, TimeUnit.NANOSECONDS), new ReplyObserver<>(failed -> {
                if (failed == null) {
                    channel.heard();
                    ended.accept(null);
                } else {
                    ended.accept(failure(Status.fromThrowable(failed).asRuntimeException(), nanos, sentAt));
                }
            }));
        } finally {
            calls.detach(before);
        }
    }

    /** The failure of a stream that the peer or the network ended. */
    public ControlException failure(Throwable e) {
        return failure(Status.fromThrowable(e).asRuntimeException(), 0, System.nanoTime());
    }

    private ControlException failure(StatusRuntimeException e, long deadlineNanos, long sentAt) {
        boolean abandoned = calls.isCancelled();
        Code code =
                abandoned ? Code.CANCELLED : GrpcStatusCodes.code(e.getStatus().getCode());
        String description = e.getStatus().getDescription();
        String reason = description == null
                ? e.getStatus().getCode().name()
                : PrintableText.escaped(description, MAX_REASON_LENGTH);
        String message =
                switch (code) {
                    case UNAVAILABLE -> {
                        if (isAnswer(reason)) {
                            channel.heard();
                            yield peer + ": " + reason;
                        }
                        channel.tryAgain();
                        yield peer + " cannot be reached: " + rootMessage(e, reason);
                    }
                    case DEADLINE_EXCEEDED -> {
                        channel.unheard(sentAt);
                        yield peer + " has not answered within " + TimeUnit.NANOSECONDS.toMillis(deadlineNanos) + " ms";
                    }
                    case CANCELLED ->
                        "the call of " + peer + " was abandoned: " + (abandoned ? "this client is closed" : reason);
                    default -> {
                        if (isOther(e.getStatus())) {
                            yield address + " is not a " + what + ": " + OTHER_REMEDY;
                        }
                        channel.heard();
                        yield peer + ": " + reason;
                    }
                };
        return new ControlException(code, message, e);
    }

    /** Whether the peer itself has answered that it is unavailable. */
    private static boolean isAnswer(String reason) {
        return reason.startsWith(ControlPlane.NOT_ENDED_YET) || reason.startsWith(ControlPlane.CANNOT_NOW);
    }

    /**
     * Whether a process of another kind has answered. Hello is the first call that a client makes, and every process of
     * the right kind, however old, knows it. A process that has never answered a call and does not speak HTTP/2 is no
     * process of Farheap's either.
     */
    private boolean isOther(Status status) {
        String description = status.getDescription();
        if (description == null) {
            return false;
        }
        return switch (status.getCode()) {
            case UNIMPLEMENTED -> UNKNOWN_HELLO.matcher(description).matches();
            case INTERNAL -> description.startsWith(NOT_HTTP2) && !channel.answered();
            default -> false;
        };
    }

    private static String rootMessage(Throwable e, String otherwise) {
        Throwable root = e;
        while (root.getCause() != null) {
            root = root.getCause();
        }
        return root == e || root.getMessage() == null ? otherwise : root.getMessage();
    }

    /** Ends calls in progress with code CANCELLED; every later call fails in the same way, at once. */
    public void abandon() {
        calls.cancel(null);
    }

    /**
     * As {@link #abandon}. If the channel is not shared, streams and the I/O thread end too; if it is shared, its last
     * user ends it. Idempotent.
     */
    @Override
    public void close() {
        abandon();
        if (shared == null) {
            channel.close();
        } else if (closed.compareAndSet(false, true)) {
            shared.release();
        }
    }
}
