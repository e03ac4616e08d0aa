package io.farheap.store.checkpoint;

import io.farheap.store.contract.CheckpointKind;
import java.time.Duration;

/**
 * How checkpoints are made.
 *
 * @param index whether checkpoints have an image of the index
 * @param patience how long a checkpoint waits for a session that has updates pending and is not polled
 * @param onClose whether a checkpoint is taken when the store is closed
 */
public record CheckpointOptions(CheckpointKind kind, boolean index, Duration patience, boolean onClose) {}
