package io.farheap.bench.child;

/** A benchmark in a JVM of its own failed; the message says how, with what it printed last. */
public final class BenchRunException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    BenchRunException(String message) {
        super(message);
    }
}
