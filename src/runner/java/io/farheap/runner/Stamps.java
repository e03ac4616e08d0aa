package io.farheap.runner;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Which pieces of the full form have passed: a file for each, with the checksum of the sources that it passed for. */
record Stamps(Path directory) {

    boolean has(Piece piece, String sources) {
        Path file = directory.resolve(piece.name());
        try {
            return Files.isReadable(file) && Files.readString(file).strip().equals(content(piece, sources));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    void put(Piece piece, String sources) {
        try {
            Files.createDirectories(directory);
            Path written = directory.resolve(piece.name() + ".new");
            Files.writeString(written, content(piece, sources) + "\n");
            Files.move(written, directory.resolve(piece.name()), java.nio.file.StandardCopyOption.REPLACE_EXISTING);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    void remove(Piece piece) {
        try {
            Files.deleteIfExists(directory.resolve(piece.name()));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** With the device's settings: what passed with others has not passed with these. */
    private static String content(Piece piece, String sources) {
        return sources + " " + piece.items().size() + " "
                + System.getenv().getOrDefault("SOFTVERBS", "-").replace(' ', '_');
    }
}
