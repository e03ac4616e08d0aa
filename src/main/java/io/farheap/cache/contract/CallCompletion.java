package io.farheap.cache.contract;

/** Called on the session's thread when a call of a procedure has ended. */
@FunctionalInterface
public interface CallCompletion {

    /**
     * As {@link Completion#completed}, for a call.
     *
     * @param token the token that the call was made with
     * @param status one of {@link io.farheap.procedure.CallStatus}
     * @param code the value that the procedure returned if the status is {@link io.farheap.procedure.CallStatus#DONE};
     *     a reason of {@code CallStatus} if it is {@code REFUSED}, {@code UNREACHABLE} or {@code INCOMPLETE}; else 0
     * @param resultBytes the length of the result, which is in the buffer
     */
    void completed(long token, int status, int code, int resultBytes);

    /**
     * The same, with the place at which the call ended. Sessions call this method; a class that wants the place
     * overrides it.
     *
     * @param address as {@link CallResult#address}
     * @param line as {@link CallResult#line}
     */
    default void completed(long token, int status, int code, int resultBytes, long address, int line) {
        completed(token, status, code, resultBytes);
    }
}
