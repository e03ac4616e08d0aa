package io.farheap.store.checkpoint;

/** A checkpoint cannot be used now, and nothing says that it is damaged: another time it may be. And why. */
public final class CheckpointUnavailableException extends Exception {

    private static final long serialVersionUID = 1L;

    CheckpointUnavailableException(String message) {
        super(message);
    }
}
