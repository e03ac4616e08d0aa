package io.farheap.store;

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
    public void write(String name, ByteBuffer bytes) throws IOException {
        Path aside = directory.resolve(name + ASIDE);
        try (FileChannel channel = FileChannel.open(
                aside, StandardOpenOption.CREATE, StandardOpenOption.TRUNCATE_EXISTING, StandardOpenOption.WRITE)) {
            while (bytes.hasRemaining()) {
                channel.write(bytes);
            }
            channel.force(true);
        }
        Files.move(aside, directory.resolve(name), StandardCopyOption.ATOMIC_MOVE);
        syncNames();
    }

    private void syncNames() throws IOException {
        try (FileChannel channel = FileChannel.open(directory, StandardOpenOption.READ)) {
            channel.force(true);
        }
    }

    @Override
    public ByteBuffer read(String name) throws IOException {
        return ByteBuffer.wrap(Files.readAllBytes(directory.resolve(name)));
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
