package io.farheap.verbs;

import io.farheap.posix.Errno;

/** A verbs call failed. */
public final class VerbsException extends RuntimeException {

    private final int errno;

    public VerbsException(String message) {
        super(message);
        this.errno = 0;
    }

    /**
     * @param what the call, its arguments and a remedy
     * @param errno the value that the call returned
     */
    public VerbsException(String what, int errno) {
        super(what + ": " + Errno.describe(errno));
        this.errno = errno;
    }

    /** Whether the device is busy with an operation that must end first: try again later. */
    public boolean busy() {
        return errno == Errno.EBUSY;
    }

    /** Linux's error number, 0 if the failure has none. */
    public int errno() {
        return errno;
    }
}
