package io.farheap.bench.child;

/** Thrown if a benchmark in a JVM of its own failed; the message says how, with its last lines of output. */
public final class BenchRunException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    BenchRunException(String message) {
        super(message);
    }
}
