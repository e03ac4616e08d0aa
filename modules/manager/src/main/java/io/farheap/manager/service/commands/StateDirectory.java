package io.farheap.manager.service.commands;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.stream.Stream;

/** The directory in which a manager keeps its state: for good, or until it is closed. */
record StateDirectory(Path path, boolean kept) implements AutoCloseable {

    static StateDirectory kept(Path path) {
        return new StateDirectory(path, true);
    }

    static StateDirectory temporary() throws IOException {
        try {
            return new StateDirectory(Files.createTempDirectory("farheap-manager-"), false);
        } catch (IOException e) {
            throw new IOException(
                    "cannot make a directory for the manager's state (" + e.getMessage()
                            + "): name one with --data, or one for temporary files with -Djava.io.tmpdir=",
                    e);
        }
    }

    @Override
    public void close() throws IOException {
        if (kept) {
            return;
        }
        try (Stream<Path> all = Files.walk(path)) {
            all.sorted(Comparator.reverseOrder()).forEach(StateDirectory::delete);
        } catch (UncheckedIOException e) {
            throw e.getCause();
        }
    }

    private static void delete(Path file) {
        try {
            Files.delete(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
