package io.farheap.store.contract;

/**
 * The statuses of a store session's operations: returned at once, or, if that was {@link #PENDING}, passed to the
 * completion.
 */
public final class StoreStatus {

    /** The operation has taken effect. */
    public static final int DONE = 0;
    /** The store has no such key. */
    public static final int NOT_FOUND = 1;
    /** The operation continues in {@link io.farheap.store.StoreSession#poll}, which calls its completion. */
    public static final int PENDING = 2;
    /**
     * There is no room at this moment and nothing has changed: poll, then try again. A completion receives it if an
     * update that waited for room was in the way of a checkpoint, which the room depends on. The session's
     * {@linkplain io.farheap.store.StoreSession#serial serial} has counted that update, and counts it again if it is
     * made again.
     */
    public static final int FULL = 3;
    /** The record was on a device that has lost it. */
    public static final int LOST = 4;
    /**
     * The device failed, by an I/O error or a full disk. An operation that needs room in the log ends so once the
     * device has refused writes for longer than the {@linkplain io.farheap.store.FarStoreBuilder#writePatience write
     * patience}; it may be tried again, since a disk may be freed. If the log's thread has died, an operation that
     * would wait for a checkpoint or for room ends so, too.
     */
    public static final int FAILED = 5;
    /** The store was closed before the operation ended. */
    public static final int CLOSED = 6;

    /** The value does not fit into the room that the read was given; the store still has it. */
    public static final int TOO_LONG = 7;
    /** The segment that was to receive the value could no longer be accessed. */
    public static final int SEGMENT_GONE = 8;
    /** The update has thrown an exception, which {@code poll} has thrown on; the value is unchanged. */
    public static final int THREW = 9;
    /**
     * There is no room for a record beside the live ones within the
     * {@linkplain io.farheap.store.FarStoreBuilder#spaceLimit space limit} or the device's capacity: a compaction of
     * the whole log has gained none, or could not be done, for the reason that
     * {@link io.farheap.store.FarStore#maintenanceFailure} gives. Nothing has changed. Reads and deletes continue, and
     * changes in place of what was written after that compaction, and after the last checkpoint that was a fold-over:
     * delete keys, then try again.
     */
    public static final int NO_SPACE = 10;

    private StoreStatus() {}

    /** A status in words, for messages. */
    public static String describe(int status) {
        return switch (status) {
            case DONE -> "done";
            case NOT_FOUND -> "not found";
            case PENDING -> "pending";
            case FULL -> "no room at this moment";
            case LOST -> "the record is lost with the device that had it";
            case FAILED -> "the device failed, for the reason that FarStore.failure gives";
            case CLOSED -> "the store was closed";
            case TOO_LONG -> "the value is longer than the place that it was to go to";
            case SEGMENT_GONE -> "the memory segment was closed, or belongs to another thread";
            case THREW -> "the update has thrown an exception";
            case NO_SPACE -> "live records take all of the space: delete keys, or give the store more space";
            default -> "status " + status;
        };
    }
}
