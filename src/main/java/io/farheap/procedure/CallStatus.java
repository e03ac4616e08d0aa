package io.farheap.procedure;

/**
 * How a call ended. If it ended as {@link #REFUSED}, {@link #INCOMPLETE} or {@link #UNREACHABLE}, its code is one of
 * the reasons, {@link #NO_REASON} to {@link #NOT_JOINED}.
 */
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
    /** The call was refused and has not run, for the reason in its code. */
    public static final int REFUSED = 7;
    /**
     * The outcome is unknown: the call ran once, in part, or not at all. Nothing of it takes effect after this status
     * is returned.
     */
    public static final int LOST = 8;
    /** The call needs an address that its server does not have, and was not allowed to continue on another server. */
    public static final int STOPPED = 9;
    /**
     * The call was never sent, as its server could not be reached: nothing of it was done, and nothing will be. The
     * code has the reason.
     */
    public static final int UNREACHABLE = 10;
    /**
     * The call ran in part and could not continue, for the reason in its code; values that it stored before stay.
     * Nothing of it takes effect after this status is returned.
     */
    public static final int INCOMPLETE = 11;

    /** A reason: the server did not say one. */
    public static final int NO_REASON = 0;
    /** A reason: the client has as many waiting calls at the server as it may have; the call can be made later. */
    public static final int TOO_MANY_CALLS = 1;
    /** A reason: the server does not have the procedure, or has it no more. */
    public static final int NO_PROCEDURE = 2;
    /** A reason: the call's message has lengths that do not add up, or that are beyond the limits of a call. */
    public static final int MALFORMED = 3;
    /** A reason: the server's translation of the procedure does not go with the call's saved context. */
    public static final int FOREIGN_CONTEXT = 4;
    /** A reason: the server has no calls of procedures at all. */
    public static final int NO_OPERATION = 5;
    /** A reason: no server runs the procedure, and this process has no memory for its accesses. */
    public static final int NO_MEMORY = 6;
    /** A reason: the call runs in its session, and has reached an atomic that cannot be executed from there. */
    public static final int NO_ATOMIC = 7;
    /** A reason: the session was closed, or its cache. */
    public static final int CLOSED = 8;
    /** A reason: the server does not answer, or refuses a connection, for instance as its budgets are used up. */
    public static final int NO_CONNECTION = 9;
    /** A reason: the server is gone, and with it the content that the cache had there. */
    public static final int SERVER_GONE = 10;
    /** A reason: the results of a range's calls could not be joined, since the class that joins them threw. */
    public static final int NOT_JOINED = 11;

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
        "stopped at an address that is on another server",
        "unreachable: it was never sent",
        "incomplete: it ran in part"
    };

    private static final String[] REASONS = {
        "the server says no reason",
        "the client has too many calls at the server",
        "the server does not have the procedure",
        "the message is malformed",
        "the server's translation does not go with the call's context",
        "the server has no calls of procedures",
        "this process has no memory for it",
        "an atomic cannot be executed from a session",
        "the session was closed",
        "the server does not answer or refuses a connection",
        "the server is gone",
        "the results could not be joined"
    };

    /** Number of statuses, which begin at 0. */
    public static final int STATUSES = 12;

    private CallStatus() {}

    /** The status in words; any int is allowed. */
    public static String describe(int status) {
        return status >= 0 && status < TEXTS.length ? TEXTS[status] : "status " + status;
    }

    /**
     * The status in words, with the reason if it has one; any ints are allowed.
     *
     * @param code the call's code
     */
    public static String describe(int status, int code) {
        return switch (status) {
            case REFUSED, UNREACHABLE, INCOMPLETE -> describe(status) + "; " + reason(code);
            default -> describe(status);
        };
    }

    private static String reason(int code) {
        return code >= 0 && code < REASONS.length ? REASONS[code] : "reason " + code;
    }
}
