package io.farheap.bench.resilience;

/** A kind of measured request. */
record RequestKind(boolean write, int bytes) {

    String op() {
        return write ? "write" : "read";
    }
}
