package io.farheap.store;

/** A checkpoint cannot be used, and why. */
final class DamagedException extends Exception {

    private static final long serialVersionUID = 1L;

    DamagedException(String message) {
        super(message);
    }
}
