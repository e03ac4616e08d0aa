package io.farheap.manager.state;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.testing.LockProbe;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DirectoryLockTest {

    @TempDir
    private Path directory;

    @Test
    void itStaysBehindAnotherThatWasRefused() throws Exception {
        DirectoryLock lock = DirectoryLock.take(directory);
        String refused = assertThrows(StateException.class, () -> DirectoryLock.take(directory))
                .getMessage();
        assertTrue(refused.contains("another manager's"), refused);
        assertFalse(LockProbe.isFree(directory.resolve("lock")), "another process could take it");
        lock.close();
        DirectoryLock.take(directory).close();
    }

    @Test
    void aPlaceThatIsNoDirectoryIsTold() throws Exception {
        Path file = Files.createFile(directory.resolve("file"));
        String refused = assertThrows(StateException.class, () -> DirectoryLock.take(file))
                .getMessage();
        assertTrue(refused.startsWith("cannot write to the directory " + file), refused);
    }
}
