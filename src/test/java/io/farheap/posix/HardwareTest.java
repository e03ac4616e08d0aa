package io.farheap.posix;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;

class HardwareTest {

    @Test
    void theHardwareIsTheProcessorAndTheCores() {
        assertEquals(
                "AMD EPYC 7551 32-Core, 2 cores",
                Hardware.describe(
                        List.of("processor\t: 0", "model name\t: AMD EPYC  7551\t32-Core ", "model name\t: other"), 2));
        assertEquals("unknown processor, 1 core", Hardware.describe(List.of("model name"), 1));
        assertTrue(Hardware.describe(List.of("model name: " + "x".repeat(1_000)), 4)
                        .length()
                < 200);
    }
}
