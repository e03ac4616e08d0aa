package io.farheap.runner.madeup;

import org.junit.jupiter.api.Test;

/** Ends its JVM. */
class Halts {

    @Test
    void halts() {
        System.out.println("the last that it said");
        Runtime.getRuntime().halt(7);
    }
}
