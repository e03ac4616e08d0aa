package io.farheap.runner.madeup;

import org.junit.jupiter.api.Test;

/** Two tests that pass. */
class Passes {

    @Test
    void one() {}

    @Test
    void two() {}
}
