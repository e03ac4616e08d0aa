package io.farheap.cache.contract;

/** Takes a call of a procedure that has ended, on the session's thread. */
@FunctionalInterface
public interface CallCompletion {

    /**
     * As {@link Completion#completed}, of a call.
     *
     * @param token as the call was made with
     * @param status one of {@link io.farheap.procedure.CallStatus}
     * @param code what the procedure returned; 0 unless the status is {@link io.farheap.procedure.CallStatus#DONE}
     * @param resultBytes how long the result is, which is in the buffer then
     */
    void completed(long token, int status, int code, int resultBytes);
}
