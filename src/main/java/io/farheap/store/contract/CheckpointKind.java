package io.farheap.store.contract;

/** How a checkpoint keeps the part of the log that is updated in place (FASTER, section 6.5). */
public enum CheckpointKind {
    /**
     * That part becomes read-only and is written to the device as part of the log. No other checkpoint writes it again,
     * and an update copies a record to the tail first, so the log grows with each checkpoint.
     */
    FOLD_OVER,
    /**
     * A copy of that part is written to a file beside the log, and records are still updated in place: the log does not
     * grow. One checkpoint in 1,024 is a fold-over, since a record's header can only count so many versions.
     */
    SNAPSHOT,
    /**
     * As {@link #SNAPSHOT}, but only the blocks of 4,096 bytes that have changed since the last checkpoint are written;
     * the other blocks are in earlier checkpoints' files. If these files have more than twice the bytes that are needed
     * of them, the next checkpoint writes all blocks.
     */
    INCREMENTAL
}
