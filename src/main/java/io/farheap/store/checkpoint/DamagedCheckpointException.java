package io.farheap.store.checkpoint;

/** A checkpoint is damaged, as the message explains. */
public final class DamagedCheckpointException extends Exception {

    private static final long serialVersionUID = 1L;

    DamagedCheckpointException(String message) {
        super(message);
    }
}
