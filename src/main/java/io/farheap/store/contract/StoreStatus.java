package io.farheap.store.contract;

/** What an operation of a store's session says at once, or, where it was {@link #PENDING}, when it is called back. */
public final class StoreStatus {

    /** It has taken effect. */
    public static final int DONE = 0;
    /** There is no such key. */
    public static final int NOT_FOUND = 1;
    /** It goes on in {@link io.farheap.store.StoreSession#poll}, which calls back. */
    public static final int PENDING = 2;
    /** There is no room at this moment, nothing has happened: poll, then do it again. */
    public static final int FULL = 3;
    /** The record was on a device that has lost it. */
    public static final int LOST = 4;
    /**
     * The device failed, by an I/O error or a full disk; or it has room for no more of the log, and the store has no
     * {@linkplain io.farheap.store.FarStoreBuilder#spaceLimit space limit} below which it would compact:
     * {@link io.farheap.store.FarStore#compact} makes room.
     */
    public static final int FAILED = 5;
    /** The store was closed before it ended. */
    public static final int CLOSED = 6;

    /** The value does not fit into the place that it was to go to; it is there as before. */
    public static final int TOO_LONG = 7;
    /** The segment that the value was to go to could not be accessed any more. */
    public static final int SEGMENT_GONE = 8;
    /** The update has thrown an exception, which came out of the poll; the value is there as before. */
    public static final int THREW = 9;

    private StoreStatus() {}

    public static String describe(int status) {
        return switch (status) {
            case DONE -> "done";
            case NOT_FOUND -> "not found";
            case PENDING -> "pending";
            case FULL -> "no room at this moment";
            case LOST -> "the record is lost with the device that had it";
            case FAILED -> "the device failed, for the reason that FarStore.failure gives, or has no room";
            case CLOSED -> "the store was closed";
            case TOO_LONG -> "the value is longer than the place that it was to go to";
            case SEGMENT_GONE -> "the memory segment was closed, or belongs to another thread";
            case THREW -> "the update has thrown an exception";
            default -> "status " + status;
        };
    }
}
