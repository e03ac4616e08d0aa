package io.farheap.remote.contract;

/** Takes the calls that have ended, on the thread that polls. */
@FunctionalInterface
public interface ReplyHandler {

    /**
     * May call on the queue that is polled, and may not poll, close, disconnect or reconnect it, or wait. An exception
     * comes out of the poll; what else has ended comes with the next.
     *
     * @param tag as it was called with
     * @param outcome one of {@link Outcome}
     * @param replyBytes how long the reply is, which is in the buffer where it was to go; 0 unless the outcome is
     *     {@link Outcome#DONE}
     */
    void completed(long tag, int outcome, int replyBytes);
}
