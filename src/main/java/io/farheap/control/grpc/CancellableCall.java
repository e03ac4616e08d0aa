package io.farheap.control.grpc;

import io.farheap.control.ControlException;
import io.farheap.control.ControlException.Code;
import io.farheap.control.plane.Caller;
import io.farheap.control.threads.CallKind;
import io.farheap.control.threads.CallThreads;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ServerCallStreamObserver;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * One call on its way through a server. If the client stops waiting, it does not get what it asked for: the call is not
 * begun, or its result is taken back.
 *
 * <p><b>Between threads.</b> Two threads change {@code state}, which begins as OPEN. The call thread sets it to the
 * result and then answers, unless it finds ABANDONED: then it takes the result back. The I/O thread sets it to
 * ABANDONED when the client is gone, or has not received the answer; if it finds a result there, it has that taken
 * back. So one of the two takes the result back, and only once. gRPC does not report that a client is gone after all of
 * an answer was sent; whether the client has read it the server cannot know.
 *
 * @param <R> what the plane returns
 * @param <T> the message for it
 */
final class CancellableCall<R, T> implements Runnable {

    private static final System.Logger LOG = System.getLogger(CancellableCall.class.getName());
    private static final Object OPEN = new Object();
    private static final Object ABANDONED = new Object();

    private record CompletedCall<R>(R result) {}

    private final CallThreads threads;
    private final CallKind kind;
    private final @Nullable Long lease;
    private final Caller caller = IncomingCalls.caller();
    private final ServerCallStreamObserver<T> reply;
    private final Supplier<R> call;
    private final Function<R, T> message;
    private final @Nullable Consumer<R> takeBack;
    private final AtomicReference<Object> state = new AtomicReference<>(OPEN);

    /**
     * @param lease for which the call is; null for none
     * @param takeBack undoes the call; null if there is nothing to undo
     */
    CancellableCall(
            CallThreads threads,
            CallKind kind,
            @Nullable Long lease,
            ServerCallStreamObserver<T> reply,
            Supplier<R> call,
            Function<R, T> message,
            @Nullable Consumer<R> takeBack) {
        this.threads = threads;
        this.kind = kind;
        this.lease = lease;
        this.reply = reply;
        this.call = call;
        this.message = message;
        this.takeBack = takeBack;
    }

    /** Begins the call; on the I/O thread, as the call's message is delivered. */
    void begin() {
        reply.setOnCancelHandler(this::abandoned);
        String refusal = threads.submit(kind, caller, lease, this);
        if (refusal != null) {
            reply.onError(GrpcStatusCodes.refusal(Code.BUSY, refusal));
        }
    }

    /** On a call thread. */
    @Override
    public void run() {
        Caller.run(caller, this::answer);
    }

    private void answer() {
        boolean gives = kind == CallKind.GRANT || kind == CallKind.PULL;
        if (gives && state.get() == ABANDONED) {
            return;
        }
        R result;
        try {
            result = call.get();
        } catch (Throwable e) {
            reply.onError(failure(e));
            return;
        }
        if (state.compareAndSet(OPEN, new CompletedCall<>(result))) {
            send(result);
        } else {
            undo(result);
        }
    }

    private void send(R result) {
        T answer;
        try {
            answer = message.apply(result);
        } catch (Throwable e) {
            undo(result);
            reply.onError(failure(e));
            return;
        }
        reply.onNext(answer);
        reply.onCompleted();
    }

    @SuppressWarnings("unchecked")
    private void abandoned() {
        if (state.getAndSet(ABANDONED) instanceof CompletedCall<?> done && takeBack != null) {
            String refusal = threads.submit(CallKind.GIVE_BACK, caller, lease, () -> undo((R) done.result()));
            if (refusal != null) {
                LOG.log(
                        System.Logger.Level.WARNING,
                        "the result of a call that its client cancelled stays until its lease ends: " + refusal);
            }
        }
    }

    private void undo(R result) {
        if (takeBack == null) {
            return;
        }
        try {
            takeBack.accept(result);
        } catch (ControlException e) {
            // The result has ended with its lease.
        } catch (Throwable e) {
            LOG.log(System.Logger.Level.ERROR, "the result of a cancelled call cannot be taken back", e);
        }
    }

    private static StatusRuntimeException failure(Throwable e) {
        if (e instanceof ControlException refused) {
            if (refused.code() == Code.PROTOCOL_MISMATCH) {
                LOG.log(System.Logger.Level.WARNING, "refused a client: " + refused.getMessage());
            }
            return GrpcStatusCodes.refusal(refused.code(), refused.getMessage());
        }
        LOG.log(System.Logger.Level.ERROR, "a call of the control plane failed", e);
        return GrpcStatusCodes.refusal(Code.INTERNAL, "the server failed: " + e);
    }
}
