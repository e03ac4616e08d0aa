package io.farheap.bench.kv;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

/**
 * A trace of requests: one key a line, in the order of the requests; a key is a whole number from 0. It has one request
 * at least, and may end with empty lines.
 */
public final class TraceFile {

    private static final int DECIMAL = 10;
    private static final String COMPRESSED = ".xz";

    private TraceFile() {}

    /**
     * Returns the named files, and the files in named directories that are compressed ({@code .xz}) or have no ending:
     * notes have one.
     */
    static List<Path> in(List<Path> named) throws IOException {
        List<Path> files = new ArrayList<>();
        for (Path one : named) {
            if (Files.isDirectory(one)) {
                try (Stream<Path> inside = Files.list(one)) {
                    inside.filter(file -> Files.isRegularFile(file)
                                    && (isCompressed(file)
                                            || !file.getFileName().toString().contains(".")))
                            .sorted()
                            .forEach(files::add);
                }
            } else {
                files.add(one);
            }
        }
        return files;
    }

    /** Returns a trace's name: that of its file, without {@code .xz}. */
    static String name(Path file) {
        String name = file.getFileName().toString();
        return isCompressed(file) ? name.substring(0, name.length() - COMPRESSED.length()) : name;
    }

    private static boolean isCompressed(Path file) {
        return file.getFileName().toString().endsWith(COMPRESSED);
    }

    /**
     * Reads the keys of a file; the program xz unpacks a file of which the name ends with {@code .xz}.
     *
     * @throws IOException if it cannot be read, has no request, or has a line that is no key
     */
    public static int[] read(Path file) throws IOException {
        int[] keys = readAll(file);
        if (keys.length == 0) {
            throw new IOException(file + " has no request: a trace has a key a line");
        }
        return keys;
    }

    private static int[] readAll(Path file) throws IOException {
        if (!isCompressed(file)) {
            try (InputStream in = Files.newInputStream(file)) {
                return read(file, in);
            }
        }
        Process unpacking = new ProcessBuilder("xz", "-dc", file.toString())
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        try (InputStream in = unpacking.getInputStream()) {
            int[] keys = read(file, in);
            if (unpacking.waitFor() != 0) {
                throw new IOException(file + ": xz cannot unpack it");
            }
            return keys;
        } catch (InterruptedException e) {
            throw new IOException(file + ": interrupted", e);
        } finally {
            unpacking.destroy();
        }
    }

    private static int[] read(Path file, InputStream from) throws IOException {
        int[] keys = new int[1 << 16];
        int count = 0;
        try (InputStream in = new BufferedInputStream(from, 1 << 16)) {
            long key = 0;
            int digits = 0;
            boolean empty = false;
            for (int next = in.read(); next >= 0 || digits > 0; next = in.read()) {
                if (next >= '0' && next <= '9') {
                    if (empty) {
                        throw new IOException(file + ", request " + (count + 1) + ": an empty line before it");
                    }
                    key = key * DECIMAL + next - '0';
                    digits++;
                    if (key > Integer.MAX_VALUE) {
                        throw new IOException(
                                file + ", request " + (count + 1) + ": the key is above " + Integer.MAX_VALUE);
                    }
                } else if (next == '\n' || next < 0) {
                    if (digits == 0) {
                        // It may follow the last request.
                        empty = true;
                        continue;
                    }
                    if (count == keys.length) {
                        keys = Arrays.copyOf(keys, count * 2);
                    }
                    keys[count++] = (int) key;
                    key = 0;
                    digits = 0;
                } else if (next != '\r') {
                    throw new IOException(file + ", request " + (count + 1) + ": \"" + (char) next
                            + "\" in a key; a key is a whole number");
                }
            }
        }
        return Arrays.copyOf(keys, count);
    }
}
