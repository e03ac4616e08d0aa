package io.farheap.store.checkpoint;

import io.farheap.store.contract.CheckpointKind;
import java.time.Duration;

/**
 * How checkpoints are made.
 *
 * @param index whether they have an image of the index
 * @param patience how long a session may have updates pending that nobody polls for
 * @param onClose whether one is taken when the store is closed
 */
public record CheckpointOptions(CheckpointKind kind, boolean index, Duration patience, boolean onClose) {}
