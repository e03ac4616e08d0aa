package io.farheap.store.checkpoint;

/** A checkpoint cannot be used now, and nothing says that it is damaged: another time it may be. And why. */
public final class TroubleException extends Exception {

    private static final long serialVersionUID = 1L;

    TroubleException(String message) {
        super(message);
    }
}
