package io.farheap.control.grpc;

import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Receives the end of a call whose one reply has no content. gRPC calls it, from one thread at a time. */
final class ReplyObserver<R> implements StreamObserver<R> {

    private final Consumer<@Nullable Throwable> ended;
    private boolean replied;

    /** @param ended called once: with null, or the reason why there is no reply */
    ReplyObserver(Consumer<@Nullable Throwable> ended) {
        this.ended = ended;
    }

    @Override
    public void onNext(R reply) {
        replied = true;
    }

    @Override
    public void onError(Throwable failure) {
        ended.accept(failure);
    }

    /** A peer may end a call with success and send no reply: gRPC's blocking calls treat that as a failure as well. */
    @Override
    public void onCompleted() {
        ended.accept(
                replied
                        ? null
                        : Status.INTERNAL.withDescription("a reply is missing").asRuntimeException());
    }
}
