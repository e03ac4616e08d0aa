package io.farheap.store.checkpoint;

/**
 * A checkpoint cannot be used now, for the reason in the message. It is not known to be damaged, and may be usable
 * later.
 */
public final class CheckpointUnavailableException extends Exception {

    private static final long serialVersionUID = 1L;

    CheckpointUnavailableException(String message) {
        super(message);
    }
}
