package io.farheap.posix;

/** A system call failed. */
public final class PosixException extends RuntimeException {

    private final int errno;

    /**
     * @param call the call with its arguments
     * @param errno as {@code <errno.h>} numbers it on Linux
     */
    public PosixException(String call, int errno) {
        super(call + " failed: " + Errno.describe(errno));
        this.errno = errno;
    }

    public int errno() {
        return errno;
    }
}
