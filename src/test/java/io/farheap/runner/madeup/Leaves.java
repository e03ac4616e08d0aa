package io.farheap.runner.madeup;

import java.io.IOException;
import org.junit.jupiter.api.Test;

/** Leaves a process that has a session of its own. */
class Leaves {

    @Test
    void leavesAProcess() throws IOException {
        new ProcessBuilder("setsid", "sleep", "1000").start();
    }
}
