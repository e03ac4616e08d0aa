package io.farheap.posix;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.testing.LockProbe;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ExclusiveLockTest {

    @TempDir
    private Path directory;

    private static ExclusiveLock take(Path file) {
        return Objects.requireNonNull(ExclusiveLock.tryTake(file), "nobody has it");
    }

    /** The lock is kept whatever this process does with other descriptors of the file. */
    @Test
    void oneOwnerHasIt() throws Exception {
        Path file = directory.resolve("lock");
        try (ExclusiveLock lock = take(file)) {
            assertNotNull(lock);
            assertNull(ExclusiveLock.tryTake(file));
            assertNull(ExclusiveLock.tryTake(Files.createSymbolicLink(directory.resolve("link"), file)));
            try (FileChannel other = FileChannel.open(file, StandardOpenOption.WRITE)) {
                assertNull(other.tryLock());
            }
            assertEquals(0, Files.readAllBytes(file).length);
            assertFalse(LockProbe.isFree(file), "the lock is gone");
        }
        assertTrue(LockProbe.isFree(file), "the lock is still there");
        take(file).close();
    }

    @Test
    void anInterruptedThreadTakesAndKeepsIt() {
        Path file = directory.resolve("lock");
        Thread.currentThread().interrupt();
        try (ExclusiveLock lock = take(file)) {
            assertNotNull(lock);
            assertNull(ExclusiveLock.tryTake(file));
        } finally {
            assertTrue(Thread.interrupted());
        }
    }

    @Test
    void aFileThatCannotBeOpenedIsTold() {
        Path file = directory.resolve("none").resolve("lock");
        PosixException refused = assertThrows(PosixException.class, () -> ExclusiveLock.tryTake(file));
        assertTrue(refused.getMessage().contains(file.toString()), refused.getMessage());
        assertTrue(refused.getMessage().contains("ENOENT"), refused.getMessage());
    }

    @Test
    void closingTwiceClosesNothingElse() {
        ExclusiveLock first = take(directory.resolve("a"));
        first.close();
        try (ExclusiveLock second = take(directory.resolve("b"))) {
            assertNotNull(second);
            first.close();
            assertNull(ExclusiveLock.tryTake(directory.resolve("b")));
        }
    }
}
