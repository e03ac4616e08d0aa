package io.farheap.resilience.contract;

/** How a request of a {@link io.farheap.resilience.CodedSession} ended. The numbers are those of a cache's requests. */
public final class CodedStatus {

    /** The request is done. */
    public static final int OK = 0;
    /** Fewer than k slabs of a range are left. */
    public static final int LOST = 1;
    /** The session was closed before the request ended: a write may still take effect. */
    public static final int CLOSED = 2;
    /** The memory that the data was to be copied to or from could not be accessed any more. */
    public static final int SEGMENT_GONE = 3;
    /** Splits disagree, and it is unknown which are wrong. */
    public static final int CORRUPT = 4;

    private CodedStatus() {}

    /** A status in words, for messages. */
    public static String describe(int status) {
        return switch (status) {
            case OK -> "ok";
            case LOST -> "more servers are gone than the code survives; this part's content is lost";
            case CLOSED -> "the session was closed before the request was done";
            case SEGMENT_GONE -> "the memory segment was closed, or belongs to another thread";
            case CORRUPT -> "splits of a page disagree, and they are too few to determine which are wrong";
            default -> "status " + status;
        };
    }
}
