package io.farheap.manager.state;

import io.farheap.lifetime.Closing;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.jspecify.annotations.Nullable;

/** A directory is one owner's, of all processes of this host, until this is closed or the process ends. */
final class DirectoryLock implements AutoCloseable {

    private final FileChannel channel;

    private DirectoryLock(FileChannel channel) {
        this.channel = channel;
    }

    /**
     * Creates the directory where it is not there.
     *
     * @throws StateException another has it, or it cannot be written
     */
    static DirectoryLock take(Path directory) {
        FileChannel channel = null;
        try {
            Files.createDirectories(directory);
            channel = FileChannel.open(directory.resolve("lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
            if (lock(channel) == null) {
                throw new StateException("the directory " + directory
                        + " is another manager's, which runs: stop it, or give this one a directory of its own");
            }
            return new DirectoryLock(channel);
        } catch (IOException e) {
            StateException failure = new StateException(
                    "cannot write to the directory " + directory + " (" + e
                            + "): make it writable for this user, or name another",
                    e);
            Closing.after(failure, channel);
            throw failure;
        } catch (Throwable e) {
            Closing.after(e, channel);
            throw e;
        }
    }

    private static @Nullable FileLock lock(FileChannel channel) throws IOException {
        try {
            return channel.tryLock();
        } catch (OverlappingFileLockException e) {
            // Of this process. That the channel is closed does not give up the other's lock: Java's are the JVM's.
            return null;
        }
    }

    @Override
    public void close() {
        // With the channel the lock goes. The file stays: to delete it would let two have one each.
        Closing.all(channel);
    }
}
