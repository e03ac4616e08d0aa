package io.farheap.cache.contract;

import io.farheap.procedure.CallStatus;

/**
 * How a call of a procedure ended.
 *
 * @param status one of {@link CallStatus}
 * @param code the value that the procedure returned if the status is {@link CallStatus#DONE}; a reason of
 *     {@code CallStatus} if it is {@code REFUSED}, {@code UNREACHABLE} or {@code INCOMPLETE}; else 0
 * @param bytes length of the result, which is in the buffer or the segment that the call was given
 * @param address the cache address of the access that ended the call, or at which it could not continue; if a place in
 *     arguments, result or scratch memory ended it, that offset; {@link #NOWHERE} if there is none
 * @param line the line of the procedure's source at which the call ended; 0 if that is unknown
 */
public record CallResult(int status, int code, int bytes, long address, int line) {

    /** The address of a call that no access ended. */
    public static final long NOWHERE = -1;

    /** The result of a call that no access ended. */
    public CallResult(int status, int code, int bytes) {
        this(status, code, bytes, NOWHERE, 0);
    }

    /** Whether the procedure ran to its end. */
    public boolean done() {
        return status == CallStatus.DONE;
    }

    /** The status, the reason, the address and the line in words, as far as they are known. */
    public String describe() {
        return CallStatus.describe(status, code)
                + (address == NOWHERE ? "" : ", at " + address)
                + (line == 0 ? "" : ", in line " + line);
    }
}
