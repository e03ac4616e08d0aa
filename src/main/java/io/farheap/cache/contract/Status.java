package io.farheap.cache.contract;

import io.farheap.procedure.CallStatus;

/** How a request ended: a code, for callbacks that must not allocate. */
public final class Status {

    /** The request has taken effect. */
    public static final int OK = 0;
    /**
     * The server that had the data is gone, or has taken it back: the region is lost, and with it what the request has
     * written there.
     */
    public static final int LOST = 1;
    /**
     * The session or the cache was closed before the request was sent; in a coded cache, before it had ended: its write
     * may still take effect then.
     */
    public static final int CLOSED = 2;
    /**
     * The segment that the data was to be copied to or from could not be accessed any more: it was closed, or the file
     * that it maps has become shorter.
     */
    public static final int SEGMENT_GONE = 3;
    /** Splits of a page of a coded cache disagree, and there are too few to determine which are wrong. */
    public static final int CORRUPT = 4;
    /**
     * A write or an atomic whose connection failed: it was done, not done, or done in part, and nothing of it takes
     * effect any more. Each of its aligned 8 bytes has the old value or the new one, the same for all sessions. Another
     * session may have read the new value, so the cache does not repeat it.
     */
    public static final int UNKNOWN = 5;
    /**
     * Its server could not be reached for as long as the cache's {@linkplain io.farheap.cache.CacheBuilder#patience
     * patience}: nothing of it was done, and nothing will be. The content may still be there. A call ends so with
     * {@link CallStatus#UNREACHABLE}, the same number.
     */
    public static final int UNREACHABLE = CallStatus.UNREACHABLE;

    private Status() {}

    /**
     * The status of a request of which parts ended with these two, in whatever order they ended: OK only if both are,
     * else the first of {@link #LOST}, {@link #CORRUPT}, {@link #UNKNOWN}, {@link #UNREACHABLE}, {@link #CLOSED},
     * {@link #SEGMENT_GONE} that is among them. Content that is gone has to be filled again, whatever else has failed,
     * and the segment is the caller's own. A write of which one part was done and another is unreachable is
     * {@link #UNKNOWN}, which its parts' statuses do not tell.
     */
    public static int worse(int one, int other) {
        return rank(one) >= rank(other) ? one : other;
    }

    private static int rank(int status) {
        return switch (status) {
            case OK -> 0;
            case SEGMENT_GONE -> 1;
            case CLOSED -> 2;
            case UNREACHABLE -> 3;
            case UNKNOWN -> 4;
            case CORRUPT -> 5;
            default -> 6;
        };
    }

    /** Describes a status, for messages. */
    public static String describe(int status) {
        return switch (status) {
            case OK -> "ok";
            case LOST -> "the server that had this part of the cache is gone; its content is lost";
            case CLOSED -> "the session or the cache was closed before the request was sent";
            case SEGMENT_GONE ->
                "the memory segment was closed, belongs to another thread, or maps a file that was cut";
            case CORRUPT -> "splits of a page disagree, and they are too few to determine which are wrong";
            case UNKNOWN ->
                "its connection failed: it was done, not done, or done in part, and nothing of it takes effect any more";
            case UNREACHABLE -> "its server could not be reached: nothing of it was done, and nothing will be";
            default -> "status " + status;
        };
    }
}
