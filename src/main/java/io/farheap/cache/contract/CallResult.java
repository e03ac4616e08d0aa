package io.farheap.cache.contract;

import io.farheap.procedure.CallStatus;

/**
 * How a call of a procedure ended.
 *
 * @param status one of {@link CallStatus}
 * @param code the value that the procedure returned; 0 unless the status is {@link CallStatus#DONE}
 * @param bytes length of the result, which is in the buffer or the segment that the call was given
 */
public record CallResult(int status, int code, int bytes) {

    /** Whether the procedure ran to its end. */
    public boolean done() {
        return status == CallStatus.DONE;
    }
}
