package io.farheap.bench.resilience;

import static java.nio.file.StandardOpenOption.READ;
import static java.nio.file.StandardOpenOption.WRITE;

import com.sun.nio.file.ExtendedOpenOption;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * The directory of backups.
 *
 * @param direct whether the file system supports direct I/O, past the page cache
 * @param blockBytes of its blocks: only whole blocks are read and written
 */
record BackupPlace(Path directory, boolean direct, int blockBytes) {

    /** @throws IllegalArgumentException if no file can be written there */
    static BackupPlace of(Path directory) {
        try {
            int block = Math.toIntExact(Files.getFileStore(directory).getBlockSize());
            BackupPlace place = new BackupPlace(directory, true, block);
            try {
                place.open().close();
                return place;
            } catch (UnsupportedOperationException | IOException e) {
                BackupPlace plain = new BackupPlace(directory, false, block);
                plain.open().close();
                return plain;
            }
        } catch (IOException e) {
            throw new IllegalArgumentException(
                    "--directory " + directory + ": no file can be written there (" + e + "); take another", e);
        }
    }

    /** Opens an empty file without a name: it is deleted with the channel, in whatever way the process ends. */
    FileChannel open() throws IOException {
        Path file = Files.createTempFile(directory, "farheap-backup", "");
        try {
            Set<OpenOption> options = new HashSet<>(List.of(READ, WRITE));
            if (direct) {
                options.add(ExtendedOpenOption.DIRECT);
            }
            return FileChannel.open(file, options);
        } finally {
            Files.delete(file);
        }
    }

    @Override
    public String toString() {
        try {
            FileStore store = Files.getFileStore(directory);
            return directory + " (" + store.type() + "), "
                    + (direct
                            ? "direct I/O in blocks of " + blockBytes + " bytes"
                            : "through the page cache, as its file system has no direct I/O");
        } catch (IOException e) {
            throw new UncheckedIOException("cannot look at the file system of " + directory, e);
        }
    }
}
