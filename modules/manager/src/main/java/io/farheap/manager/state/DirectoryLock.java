package io.farheap.manager.state;

import io.farheap.posix.ExclusiveLock;
import io.farheap.posix.PosixException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Reserves a directory for one owner, of all processes of this host, until this is closed or the process ends. */
final class DirectoryLock implements AutoCloseable {

    private final ExclusiveLock lock;

    private DirectoryLock(ExclusiveLock lock) {
        this.lock = lock;
    }

    /**
     * Takes the lock; creates the directory if it does not exist.
     *
     * @throws StateException if another owner has it, or the directory cannot be written
     */
    static DirectoryLock take(Path directory) {
        try {
            Files.createDirectories(directory);
            ExclusiveLock lock = ExclusiveLock.tryTake(directory.resolve("lock"));
            if (lock == null) {
                throw new StateException("the directory " + directory
                        + " is another manager's, which runs: stop it, or give this one a directory of its own");
            }
            return new DirectoryLock(lock);
        } catch (IOException | PosixException e) {
            throw new StateException(
                    "cannot write to the directory " + directory + " (" + e
                            + "): make it writable for this user, or name another",
                    e);
        }
    }

    @Override
    public void close() {
        // The file stays: if it were deleted, two processes could each lock a file of their own.
        lock.close();
    }
}
