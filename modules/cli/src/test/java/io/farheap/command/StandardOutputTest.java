package io.farheap.command;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import org.junit.jupiter.api.Test;

class StandardOutputTest {

    @Test
    void isUtf8() {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        StandardOutput output = new StandardOutput(bytes);
        output.writer().println("caf\u00e9");
        assertNull(output.failure());
        assertEquals("caf\u00e9\n", bytes.toString(StandardCharsets.UTF_8));
    }

    @Test
    void remembersThatSomethingCouldNotBeWritten() throws IOException {
        try (OutputStream full = new FileOutputStream("/dev/full")) {
            StandardOutput output = new StandardOutput(full);
            PrintWriter writer = output.writer();
            assertFalse(writer.checkError());
            writer.print("waits");
            assertTrue(writer.checkError());
            writer.println("later");
            assertEquals(
                    "No space left on device",
                    Objects.requireNonNull(output.failure()).getMessage());
        }
    }

    /** If a later part were written once there is room again, a reader would not notice that a part is missing. */
    @Test
    void triesNothingMoreAfterAFailure() {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        OutputStream once = new OutputStream() {
            private boolean failed;

            @Override
            public void write(int one) throws IOException {
                if (!failed) {
                    failed = true;
                    throw new IOException("once");
                }
                bytes.write(one);
            }
        };
        StandardOutput output = new StandardOutput(once);
        output.writer().println("first");
        output.writer().println("second");
        assertEquals("once", Objects.requireNonNull(output.failure()).getMessage());
        assertEquals(0, bytes.size());
    }
}
