package io.farheap.procedure;

import java.io.Serial;

/** What ends a {@link LocalCall} where the access would end a call on a server. */
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

    /** Of {@link CallStatus}. */
    public int status() {
        return status;
    }

    /** The cache address, or the place in arguments, result or scratch memory, of the access. */
    public long address() {
        return address;
    }
}
