package io.farheap.cache.contract;

/** Called on the session's thread when a call of a procedure has ended. */
@FunctionalInterface
public interface CallCompletion {

    /**
     * As {@link Completion#completed}, for a call.
     *
     * @param token the token that the call was made with
     * @param status one of {@link io.farheap.procedure.CallStatus}
     * @param code the value that the procedure returned; 0 unless the status is
     *     {@link io.farheap.procedure.CallStatus#DONE}
     * @param resultBytes the length of the result, which is in the buffer
     */
    void completed(long token, int status, int code, int resultBytes);
}
