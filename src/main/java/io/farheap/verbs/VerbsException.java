package io.farheap.verbs;

import io.farheap.posix.Errno;

/** A verbs call failed. */
public final class VerbsException extends RuntimeException {

    private final int errno;
    private final boolean ofAddress;
    private final boolean ofSetting;

    public VerbsException(String message) {
        this(message, 0, false, false);
    }

    private VerbsException(String message, int errno, boolean ofAddress, boolean ofSetting) {
        super(message);
        this.errno = errno;
        this.ofAddress = ofAddress;
        this.ofSetting = ofSetting;
    }

    /**
     * @param what the call, its arguments and a remedy
     * @param errno the value that the call returned
     */
    public VerbsException(String what, int errno) {
        this(what + ": " + Errno.describe(errno), errno, false, false);
    }

    /** A port that works has no such address or partition now, or does not take a setting. */
    static VerbsException ofAddress(String message) {
        return new VerbsException(message, 0, true, false);
    }

    /** A setting has a value that no device takes. */
    static VerbsException ofSetting(String message) {
        return new VerbsException(message, 0, false, true);
    }

    /**
     * Whether a port that works has no such address or partition now, or does not take a setting: another device may,
     * but a software device is no substitute for this one.
     */
    boolean isOfAddress() {
        return ofAddress;
    }

    /** Whether a setting has a value that no device takes: there is no point in trying others. */
    boolean isOfSetting() {
        return ofSetting;
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
