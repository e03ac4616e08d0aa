package io.farheap.command;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A process that was stopped with SIGSTOP is continued in the end. {@code SoakTest} has a parent that is killed. */
class SuspensionTest {

    private Process process;

    @BeforeEach
    void start() throws IOException {
        process = new ProcessBuilder("cat").start();
    }

    @AfterEach
    void end() {
        process.destroyForcibly();
    }

    private char state() throws IOException {
        String stat = Files.readString(Path.of("/proc", Long.toString(process.pid()), "stat"));
        return stat.charAt(stat.lastIndexOf(')') + 2);
    }

    @Test
    void aProcessIsStoppedUntilItIsClosed() throws Exception {
        try (Suspension suspension = new Suspension(process.pid())) {
            assertEquals('T', state());
            suspension.close();
            while (state() == 'T') {
                Thread.onSpinWait();
            }
        }
        // The process is unharmed: it ends when its input ends.
        process.getOutputStream().close();
        assertEquals(0, process.waitFor());
    }

    @Test
    void aStoppedProcessIsKilled() throws Exception {
        try (Suspension _ = new Suspension(process.pid())) {
            process.destroyForcibly();
            assertNotEquals(0, process.waitFor());
        }
        assertFalse(process.isAlive());
    }

    @Test
    void whatHasEndedIsRefused() throws Exception {
        process.destroyForcibly();
        process.waitFor();
        String message = assertThrows(IllegalStateException.class, () -> new Suspension(process.pid()))
                .getMessage();
        assertTrue(message.contains(Long.toString(process.pid())), message);
    }
}
