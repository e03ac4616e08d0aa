package io.farheap.cache.contract;

import io.farheap.procedure.CallStatus;

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

    /**
     * Called instead if the call has stopped at memory of another server, as {@code Procedures.STOP} says, and its
     * session has room to keep it: one keeps 64 stopped calls. Unless a class overrides this, the call ends as
     * {@link io.farheap.procedure.CallStatus#STOPPED}. The call's buffer is not the call's any more.
     *
     * @param token the token that the call was made with
     * @param handle by which {@link io.farheap.cache.CacheSession#resume} continues the call, once, from this callback
     *     on; or {@link io.farheap.cache.CacheSession#drop} forgets it
     * @param address the cache address at which it has stopped
     * @param line as {@link CallResult#line}
     * @return whether the application keeps the handle; if not, the session forgets the call, unless it was resumed: so
     *     true if this has tried to resume it, and there was no room. If this throws an exception, the session forgets
     *     it, too
     */
    default boolean stopped(long token, long handle, long address, int line) {
        completed(token, CallStatus.STOPPED, 0, 0, address, line);
        return false;
    }

    /**
     * Called on the session's thread as the calls of a range end; see {@link io.farheap.cache.CacheSession#callRange}.
     */
    @FunctionalInterface
    interface RangeCompletion {

        /**
         * Called once, when no call of the range is under way any more and none will begin.
         *
         * @param token the token that the range was called with
         * @param status {@link io.farheap.procedure.CallStatus#DONE} if the call of each piece ended as that; else the
         *     status of the first that ended otherwise, or the reason why the results could not be joined
         * @param code a reason of {@code CallStatus} if the status is {@code REFUSED}, {@code UNREACHABLE} or
         *     {@code INCOMPLETE}; else 0
         * @param resultBytes the length of the joined result, which is in the buffer; 0 if there is none
         */
        void completed(long token, int status, int code, int resultBytes);

        /**
         * The same, with the piece whose call failed. Sessions call this method; a class that wants the piece overrides
         * it.
         *
         * @param piece the first address of that piece; {@link CallResult#NOWHERE} if none failed
         * @param address as {@link CallResult#address}
         * @param line as {@link CallResult#line}
         */
        default void completed(long token, int status, int code, int resultBytes, long piece, long address, int line) {
            completed(token, status, code, resultBytes);
        }

        /**
         * Called for each piece whose call ended as {@code DONE}, in any order, if the range has no joiner. The result
         * is in the buffer until this returns.
         *
         * @param token the token that the range was called with
         * @param piece the first address of the piece
         * @param bytes the length of the piece
         * @param code the value that the procedure returned
         * @param resultBytes the length of the result
         */
        default void pieceCompleted(long token, long piece, long bytes, int code, int resultBytes) {}
    }
}
