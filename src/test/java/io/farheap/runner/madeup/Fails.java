package io.farheap.runner.madeup;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import org.junit.jupiter.api.Test;

/** One of each verdict. */
class Fails {

    @Test
    void passes() {}

    @Test
    void fails() {
        assertEquals(1, 2, "two lines,\nand a tab\t, and a backslash n: \\n");
    }

    @Test
    void isNotRun() {
        assumeTrue(false, "it needs what is not there");
    }
}
