package io.farheap.store.checkpoint;

/** A checkpoint cannot be used, and why. */
public final class DamagedException extends Exception {

    private static final long serialVersionUID = 1L;

    DamagedException(String message) {
        super(message);
    }
}
