package io.farheap.cache.contract;

import io.farheap.procedure.CallStatus;

/**
 * How a call of a procedure ended.
 *
 * @param status one of {@link CallStatus}
 * @param code what the procedure returned
 * @param bytes of the result
 */
public record CallResult(int status, int code, int bytes) {

    public boolean done() {
        return status == CallStatus.DONE;
    }
}
