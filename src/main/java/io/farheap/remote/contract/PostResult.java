package io.farheap.remote.contract;

/**
 * The result of posting an operation to a {@code RemoteQueue} or {@code RpcQueue}. Nothing is posted unless it is
 * {@link #OK} or {@link #DONE}.
 */
public final class PostResult {

    /** The operation is posted, or in the list: a poll will return its tag. */
    public static final int OK = 0;
    /** Of {@code RemoteQueue.execute} alone: the operation has completed, and no poll returns its tag. */
    public static final int DONE = -1;
    /** There is no room: poll, and try again. */
    public static final int FULL = 1;
    /** There is no connection to the region's server: see {@code RemoteQueue.reconnect}. */
    public static final int LOST = 2;
    /** A range is outside its region or buffer, an atomic is not aligned, or one of them is closed. */
    public static final int INVALID = 3;

    private PostResult() {}

    /** Describes a result in words, for messages. */
    public static String describe(int posting) {
        return switch (posting) {
            case OK -> "posted";
            case DONE -> "done";
            case FULL -> "the queue is full";
            case LOST -> "no connection to the server";
            case INVALID -> "a range is outside its region or buffer, an atomic not aligned, or one of them is closed";
            default -> "posting " + posting;
        };
    }
}
