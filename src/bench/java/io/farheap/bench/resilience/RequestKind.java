package io.farheap.bench.resilience;

/** A kind of request that is measured. */
record RequestKind(boolean write, int bytes) {

    String op() {
        return write ? "write" : "read";
    }
}
