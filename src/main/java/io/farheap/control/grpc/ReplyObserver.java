package io.farheap.control.grpc;

import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** How a call ends that has one reply, whose content says nothing. gRPC calls it, from one thread at a time. */
final class ReplyObserver<R> implements StreamObserver<R> {

    private final Consumer<@Nullable Throwable> ended;
    private boolean replied;

    /** @param ended told once: null, or why there is no reply */
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

    /** A peer may say that all is well and send nothing: gRPC's blocking calls take that for a defect as well. */
    @Override
    public void onCompleted() {
        ended.accept(
                replied
                        ? null
                        : Status.INTERNAL.withDescription("a reply is missing").asRuntimeException());
    }
}
