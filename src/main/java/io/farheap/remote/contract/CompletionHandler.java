package io.farheap.remote.contract;

/** Receives the operations that have ended, on the thread that polls. */
@FunctionalInterface
public interface CompletionHandler {

    /**
     * Handles an operation that has ended. It may post operations to the queue that is polled, and may not poll, close,
     * disconnect or reconnect it, or wait. The poll throws an exception that this throws; the next poll hands over the
     * remaining operations.
     *
     * @param tag the tag that the operation was posted with
     * @param outcome one of {@link Outcome}
     */
    void completed(long tag, int outcome);
}
