package io.farheap.remote.contract;

/** What a {@code RemoteQueue} says to an operation. Only {@link #OK} and {@link #DONE} have done anything. */
public final class PostResult {

    /** It is posted, or in the list: its tag comes back from a poll. */
    public static final int OK = 0;
    /** Of {@code RemoteQueue.execute} alone: it is done, and its tag does not come back. */
    public static final int DONE = -1;
    /** There is no room: poll, and try again. */
    public static final int FULL = 1;
    /** There is no connection to the region's server: see {@code RemoteQueue.reconnect}. */
    public static final int LOST = 2;
    /** A range is outside its region or buffer, an atomic is not aligned, or one of them is closed. */
    public static final int INVALID = 3;

    private PostResult() {}

    /** In words, for messages. */
    public static String describe(int posting) {
        return switch (posting) {
            case OK -> "posted";
            case DONE -> "done";
            case FULL -> "the queue is full";
            case LOST -> "no connection to the server";
            case INVALID -> "a range outside its region or buffer, not aligned, or of what is closed";
            default -> "posting " + posting;
        };
    }
}
