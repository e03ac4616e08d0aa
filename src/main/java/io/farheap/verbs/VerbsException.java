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
     * @param what the call, its arguments and what to do about it
     * @param errno as the call returned it
     */
    public VerbsException(String what, int errno) {
        super(what + ": " + Errno.describe(errno));
        this.errno = errno;
    }

    /** Whether the device is in the middle of something that must end first: try again later. */
    public boolean busy() {
        return errno == Errno.EBUSY;
    }

    /** Linux's error number, 0 where the failure has none. */
    public int errno() {
        return errno;
    }
}
