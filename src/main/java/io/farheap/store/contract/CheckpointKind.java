package io.farheap.store.contract;

/** How a checkpoint keeps the part of the log that is updated in place (FASTER, section 6.5). */
public enum CheckpointKind {
    /**
     * It becomes read-only and is written where it lies: what a checkpoint writes no other writes again, and what is
     * updated afterwards is copied to the tail first, so the log grows with each checkpoint.
     */
    FOLD_OVER,
    /**
     * A copy of it is written to a file beside the log, and it stays as it is: the log does not grow. One in 1,024 is a
     * fold-over, since records count so many versions.
     */
    SNAPSHOT,
    /**
     * As {@link #SNAPSHOT}, of the blocks of 4,096 bytes that have changed since the last one, the others being in that
     * one's file or earlier ones'. All are written anew when such files have more than twice what is needed of them.
     */
    INCREMENTAL
}
