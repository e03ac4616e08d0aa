package io.farheap.remote.contract;

/** Receives the calls that have ended, on the thread that polls. */
@FunctionalInterface
public interface ReplyHandler {

    /**
     * Handles a call that has ended. It may call on the queue that is polled, and may not poll, close, disconnect or
     * reconnect it, or wait. The poll throws an exception that this throws; the next poll hands over the remaining
     * calls.
     *
     * @param tag the tag that the call was made with
     * @param outcome one of {@link Outcome}
     * @param replyBytes the length of the reply, which is in the buffer given to the call; 0 unless the outcome is
     *     {@link Outcome#DONE}
     */
    void completed(long tag, int outcome, int replyBytes);
}
