package io.farheap.bench.machine;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.stream.Stream;

/** A new directory on the disk that is measured, which is deleted with all that is in it. */
public final class ScratchDirectory implements AutoCloseable {

    private final Path path;

    /** Where temporary files are. */
    public ScratchDirectory(String prefix) throws IOException {
        path = Files.createTempDirectory(prefix);
    }

    /** @param parent which is there */
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
