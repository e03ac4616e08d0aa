/**
 * Checkpoints and recovery of a store: the form of a checkpoint and its checksums, the files beside the log, images of
 * the index, snapshots of the part of the log that is updated in place, and recovery. It stands on sessions (which pass
 * from version to version) and on the log; begin with {@link io.farheap.store.checkpoint.Checkpointer} to write and
 * {@link io.farheap.store.checkpoint.RecoveredState} to read.
 */
@NullMarked
package io.farheap.store.checkpoint;

import org.jspecify.annotations.NullMarked;
