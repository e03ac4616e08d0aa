package io.farheap.procedure;

/** How a call ended. */
public final class CallStatus {

    /** The procedure returned; its code and result are there. */
    public static final int DONE = 0;
    /** An address outside the cache or the footprint, or a place outside arguments or scratch memory. */
    public static final int OUT_OF_RANGE = 1;
    /** One access, or the words of one set, are in two regions. */
    public static final int SPLIT = 2;
    /** The caller has no room for so long a result. */
    public static final int RESULT_FULL = 3;
    /** It took more fuel than a call may. */
    public static final int OUT_OF_FUEL = 4;
    /** A division by zero; the line is known. */
    public static final int FAULT = 5;
    /** An atomic on an address that is not a multiple of 8. */
    public static final int NOT_ALIGNED = 6;
    /**
     * The server does not have the procedure, or has too many calls, or no server runs it and this process has no
     * memory for it: it has not run. Or it runs in its session, and has met an atomic that cannot be made from there:
     * what it stored before stays.
     */
    public static final int REFUSED = 7;
    /**
     * What became of it is unknown: it ran once, in part, or not at all. Nothing of it takes effect after this is said.
     */
    public static final int LOST = 8;
    /** It met an address that its server does not have, and was not to go on elsewhere. */
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

    /** How many there are, from 0 on. */
    public static final int STATUSES = 10;

    private CallStatus() {}

    /** In words; any int. */
    public static String describe(int status) {
        return status >= 0 && status < TEXTS.length ? TEXTS[status] : "status " + status;
    }
}
