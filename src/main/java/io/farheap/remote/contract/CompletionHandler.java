package io.farheap.remote.contract;

/** Takes the operations that have ended, on the thread that polls. */
@FunctionalInterface
public interface CompletionHandler {

    /**
     * May post operations to the queue that is polled, and may not poll, close, disconnect or reconnect it, or wait. An
     * exception comes out of the poll; what else has ended comes with the next.
     *
     * @param tag as it was posted with
     * @param outcome one of {@link Outcome}
     */
    void completed(long tag, int outcome);
}
