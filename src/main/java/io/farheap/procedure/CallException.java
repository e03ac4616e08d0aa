package io.farheap.procedure;

import java.io.Serial;

/** Thrown by a {@link LocalCall} if the access would end a call on a server. */
public final class CallException extends RuntimeException {

    @Serial
    private static final long serialVersionUID = 1L;

    private final int status;
    private final long address;

    CallException(int status, long address, String what) {
        super(what + ": " + CallStatus.describe(status));
        this.status = status;
        this.address = address;
    }

    /** One of {@link CallStatus}. */
    public int status() {
        return status;
    }

    /** The cache address of the access, or its offset in arguments, result or scratch memory. */
    public long address() {
        return address;
    }
}
