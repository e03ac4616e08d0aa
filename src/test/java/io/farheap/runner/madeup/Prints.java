package io.farheap.runner.madeup;

import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

/** Prints 100 MB. */
class Prints {

    @Test
    void printsMuch() {
        byte[] line = ("a".repeat(999) + "\n").getBytes(StandardCharsets.US_ASCII);
        for (int i = 0; i < 100_000; i++) {
            System.out.write(line, 0, line.length);
        }
    }
}
