package io.farheap.bench.resilience;

/** A kind of request that is measured. */
record Access(boolean write, int bytes) {

    String op() {
        return write ? "write" : "read";
    }
}
