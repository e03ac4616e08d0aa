package io.farheap.control.grpc;

import io.farheap.control.ControlException;
import io.farheap.control.ControlException.Code;
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
 * One client's calls of one process, whose failures are {@link ControlException}s. The gRPC channel below it, with its
 * I/O thread, is its own or shared with other clients of this process: then each ends its own calls alone. Thread-safe.
 *
 * <p>Calls carry a context of the client's own, so that they can be ended together and no other with them. It is not
 * derived from the calling thread's: where an application calls within a call that it serves, the end of that does not
 * end this.
 */
public final class CallChannel implements AutoCloseable {

    private static final int MAX_REASON_LENGTH = 1000;

    /** As gRPC describes a call that its server does not have. */
    private static final Pattern UNKNOWN_HELLO = Pattern.compile("Method not found: .*/Hello");

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
     * With a connection of its own, which is made when it is first called.
     *
     * @param what the peer is, for messages, such as "memory server"
     * @param threadName the I/O thread's
     * @param maxReplyBytes of one message from the peer
     * @throws ControlException UNAVAILABLE where the host has no address, or none of several can be connected to
     */
    public CallChannel(String what, HostPort address, String threadName, int maxReplyBytes) {
        ProtobufRuntime.require();
        this.what = what;
        this.address = address;
        peer = what + " " + address;
        channel = new GrpcChannel(address.reach(what), threadName, maxReplyBytes);
        shared = null;
    }

    /** @param shared whose user this is until it is closed */
    CallChannel(String what, HostPort address, SharedServerChannel shared) {
        this.what = what;
        this.address = address;
        peer = what + " " + address;
        channel = shared.channel();
        this.shared = shared;
    }

    /** What it is and where, for messages. */
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

    /** What it shares with others, or null. */
    @Nullable
    SharedServerChannel shared() {
        return shared;
    }

    /** A call's time limit: so many ms on a machine that is not emulated, in ns. */
    static long nanos(long millis) {
        return TimeLimit.of(TimeUnit.MILLISECONDS.toNanos(millis));
    }

    /**
     * Blocks the calling thread, and can be interrupted.
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
     * Begins a call, and does not wait for its answer.
     *
     * @param call gets a stub and where the answer is to go
     * @param ended told once how it ended, null for well: on gRPC's I/O thread, on the calling one, or on one that
     *     {@linkplain #abandon abandons} it; it must not wait for anything
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

    /** Why a stream has ended that the peer or the network ended. */
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
                        channel.heard();
                        yield isOther(e.getStatus())
                                ? address + " is not a " + what + ": " + OTHER_REMEDY
                                : peer + ": " + reason;
                    }
                };
        return new ControlException(code, message, e);
    }

    /**
     * Whether a process of another kind has answered: Hello is the first call that a client makes, and every process of
     * the right kind, however old, knows it.
     */
    private static boolean isOther(Status status) {
        String description = status.getDescription();
        return status.getCode() == Status.Code.UNIMPLEMENTED
                && description != null
                && UNKNOWN_HELLO.matcher(description).matches();
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
        calls.cancel(null);
    }

    /**
     * As {@link #abandon}. Where the channel is its own, streams end too, and so does the thread; where it is shared,
     * the last who closes ends it. Idempotent.
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
