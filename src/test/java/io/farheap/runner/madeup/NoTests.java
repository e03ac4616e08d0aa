package io.farheap.runner.madeup;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Has no tests in the short form. */
class NoTests {

    @Test
    @Tag("full")
    void inFullAlone() {}
}
