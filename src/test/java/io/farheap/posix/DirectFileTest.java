package io.farheap.posix;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.lang.foreign.Arena;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DirectFileTest {

    private static final int BYTES = 4096;

    /** A device that is always full. */
    @Test
    void whatCannotBeWrittenSaysWhy() {
        DirectFile full = DirectFile.open(Path.of("/dev/full"), false, false);
        try (Arena arena = Arena.ofConfined()) {
            long memory = arena.allocate(BYTES).address();
            assertEquals(-Errno.ENOSPC, full.write(0, memory, BYTES));
            assertEquals(BYTES, full.read(0, memory, BYTES));
            assertEquals(Errno.EINVAL, full.syncData());
        } finally {
            full.close();
        }
    }

    @Test
    void whatCanBeWrittenIsThere(@TempDir Path directory) throws Exception {
        Path path = directory.resolve("file");
        DirectFile file = DirectFile.open(path, true, false);
        try (Arena arena = Arena.ofConfined()) {
            long memory = arena.allocate(BYTES).fill((byte) 7).address();
            assertEquals(BYTES, file.write(BYTES, memory, BYTES));
            assertEquals(0, file.syncData());
            assertEquals(0, file.read(2 * BYTES, memory, BYTES));
        } finally {
            file.close();
        }
        assertEquals(7, Files.readAllBytes(path)[2 * BYTES - 1]);
    }

    /** For example, a call that a signal or a shortage of memory has ended must be repeated. */
    @Test
    void whatEndsWithOneErrorIsCalledAgain() {
        Deque<Integer> results = new ArrayDeque<>(List.of(-Errno.EINTR, -Errno.EINTR, -Errno.EIO, 0));
        assertEquals(-Errno.EIO, Posix.unless(Errno.EINTR, results::remove));
        assertEquals(0, Posix.unless(Errno.EINTR, results::remove));
    }
}
