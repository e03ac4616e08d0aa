package io.farheap.store.checkpoint;

/** A checkpoint cannot be used, and why. */
public final class DamagedCheckpointException extends Exception {

    private static final long serialVersionUID = 1L;

    DamagedCheckpointException(String message) {
        super(message);
    }
}
