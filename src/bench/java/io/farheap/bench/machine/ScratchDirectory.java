package io.farheap.bench.machine;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.stream.Stream;

/** A new directory on the measured disk, which is deleted with its content. */
public final class ScratchDirectory implements AutoCloseable {

    private final Path path;

    /** Creates it in the directory for temporary files. */
    public ScratchDirectory(String prefix) throws IOException {
        path = Files.createTempDirectory(prefix);
    }

    /** @param parent an existing directory */
    public ScratchDirectory(Path parent, String prefix) throws IOException {
        path = Files.createTempDirectory(parent, prefix);
    }

    public Path path() {
        return path;
    }

    @Override
    public void close() {
        try (Stream<Path> files = Files.walk(path)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        } catch (IOException e) {
            throw new UncheckedIOException("cannot delete " + path, e);
        }
    }
}
