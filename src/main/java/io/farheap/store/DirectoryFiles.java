package io.farheap.store;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.stream.Stream;

/** Files of a directory: written aside, synced, renamed, and the directory synced. */
final class DirectoryFiles implements StableFiles {

    private static final String ASIDE = ".new";

    private final Path directory;

    DirectoryFiles(Path directory) throws IOException {
        this.directory = directory;
        Files.createDirectories(directory);
    }

    @Override
    public Output create(String name) throws IOException {
        Path aside = directory.resolve(name + ASIDE);
        FileChannel channel = FileChannel.open(
                aside, StandardOpenOption.CREATE, StandardOpenOption.TRUNCATE_EXISTING, StandardOpenOption.WRITE);
        return new Output() {
            @Override
            public void write(ByteBuffer bytes) throws IOException {
                while (bytes.hasRemaining()) {
                    channel.write(bytes);
                }
            }

            @Override
            public void commit() throws IOException {
                channel.force(true);
                channel.close();
                Files.move(aside, directory.resolve(name), StandardCopyOption.ATOMIC_MOVE);
                syncNames();
            }

            @Override
            public void close() throws IOException {
                channel.close();
            }
        };
    }

    private void syncNames() throws IOException {
        try (FileChannel channel = FileChannel.open(directory, StandardOpenOption.READ)) {
            channel.force(true);
        }
    }

    @Override
    public Input open(String name) throws IOException {
        FileChannel channel = FileChannel.open(directory.resolve(name), StandardOpenOption.READ);
        return new Input() {
            @Override
            public long bytes() throws IOException {
                return channel.size();
            }

            @Override
            public void read(long position, ByteBuffer into) throws IOException {
                for (long at = position; into.hasRemaining(); ) {
                    int count = channel.read(into, at);
                    if (count < 0) {
                        throw new EOFException(name + " ends at " + at);
                    }
                    at += count;
                }
            }

            @Override
            public void close() throws IOException {
                channel.close();
            }
        };
    }

    @Override
    public List<String> names() throws IOException {
        try (Stream<Path> files = Files.list(directory)) {
            return files.map(file -> file.getFileName().toString()).toList();
        }
    }

    @Override
    public void delete(String name) throws IOException {
        Files.deleteIfExists(directory.resolve(name));
        syncNames();
    }
}
