package io.farheap.remote.contract;

/** The outcome of an operation, which a poll of a {@code RemoteQueue} or {@code RpcQueue} returns with its tag. */
public final class Outcome {

    /** The operation has taken effect; a READ's or an atomic's bytes are in local memory. */
    public static final int DONE = 0;
    /** The server or the device refused it: it has not taken effect. The connection has failed. */
    public static final int REFUSED = 1;
    /** The connection had failed before the operation was posted: it has not taken effect, and never will. */
    public static final int NOT_POSTED = 2;
    /**
     * The operation was posted and the connection failed: it may have taken effect, or may until the server's end is
     * fenced.
     */
    public static final int UNKNOWN = 3;
    /**
     * Of {@code disconnect} and {@code reconnect}: the server cannot be reached, and nothing is fenced; or a later
     * change has overtaken this one.
     */
    public static final int UNREACHABLE = 4;
    /**
     * Of {@code RpcQueue} alone: the operation failed at the server; its changes before the failure stay. The
     * connection continues.
     */
    public static final int FAILED = 5;
    /**
     * Of {@code RpcQueue} alone: the server has no such operation. It has changed nothing, and the connection
     * continues.
     */
    public static final int NO_OPERATION = 6;
    /**
     * Of {@code RpcQueue} alone: the operation needs a region that this process does not hold. The connection
     * continues.
     */
    public static final int NOT_HELD = 7;

    private Outcome() {}

    /** Describes an outcome in words, for messages. */
    public static String describe(int outcome) {
        return switch (outcome) {
            case DONE -> "done";
            case REFUSED -> "refused by the server or the device";
            case NOT_POSTED -> "not posted: the connection had failed";
            case UNKNOWN -> "posted on a connection that failed: it may have taken effect or not";
            case UNREACHABLE -> "the server cannot be reached";
            case FAILED -> "failed at the server";
            case NO_OPERATION -> "not an operation of the server's";
            case NOT_HELD -> "needs a region that this process does not hold";
            default -> "outcome " + outcome;
        };
    }
}
