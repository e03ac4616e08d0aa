package io.farheap.tier;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.testing.LockProbe;
import io.farheap.tier.device.StorageException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DiskStorageTest {

    /**
     * A refused open closes its descriptor of the lock file. A process that held the lock itself would lose it then;
     * the storage's lock belongs to its open file description.
     */
    @Test
    void aDirectoryStaysInUseBehindAnOpenThatWasRefused(@TempDir Path directory) throws Exception {
        DiskStorage storage = DiskStorage.open(directory);
        String refused = assertThrows(StorageException.class, () -> DiskStorage.open(directory))
                .getMessage();
        assertTrue(refused.contains("is in use"), refused);
        assertFalse(LockProbe.isFree(directory.resolve("lock")), "another process could open it");
        storage.close();
        DiskStorage.open(directory).close();
    }
}
