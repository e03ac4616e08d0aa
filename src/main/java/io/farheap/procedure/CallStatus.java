package io.farheap.procedure;

/** How a call ended. */
public final class CallStatus {

    /** The procedure returned; its code and result are available. */
    public static final int DONE = 0;
    /** An address outside the cache or the footprint, or an offset outside arguments or scratch memory. */
    public static final int OUT_OF_RANGE = 1;
    /** The bytes of one access, or the words of one set, are in two regions. */
    public static final int SPLIT = 2;
    /** The caller has no room for a result of this length. */
    public static final int RESULT_FULL = 3;
    /** The call used more fuel than a call may. */
    public static final int OUT_OF_FUEL = 4;
    /** A division by zero; the line is known. */
    public static final int FAULT = 5;
    /** An atomic on an address that is not a multiple of 8. */
    public static final int NOT_ALIGNED = 6;
    /**
     * The call was refused and has not run: the server does not have the procedure or has too many calls, or no server
     * runs the procedure and this process has no memory for it. Or the procedure runs in its session and reached an
     * atomic that cannot be executed from there; values that it stored before stay.
     */
    public static final int REFUSED = 7;
    /**
     * The outcome is unknown: the call ran once, in part, or not at all. Nothing of it takes effect after this status
     * is returned.
     */
    public static final int LOST = 8;
    /** The call needs an address that its server does not have, and was not allowed to continue on another server. */
    public static final int STOPPED = 9;

    private static final String[] TEXTS = {
        "done",
        "an address out of range",
        "an access across two regions",
        "no room for the result",
        "out of fuel",
        "a division by zero",
        "an atomic on an address that is not a multiple of 8",
        "refused",
        "lost: it ran once, in part, or not at all",
        "stopped at an address that is on another server"
    };

    /** Number of statuses, which begin at 0. */
    public static final int STATUSES = 10;

    private CallStatus() {}

    /** The status in words; any int is allowed. */
    public static String describe(int status) {
        return status >= 0 && status < TEXTS.length ? TEXTS[status] : "status " + status;
    }
}
