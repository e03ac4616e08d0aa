package io.farheap.bench.kv;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;

/** A trace of requests: a key a line, in the order of the requests; a key is a whole number from 0 on. */
public final class TraceFile {

    private static final int DECIMAL = 10;

    private TraceFile() {}

    /**
     * The keys of a file.
     *
     * @throws IOException where it cannot be read, or a line is no key
     */
    public static int[] read(Path file) throws IOException {
        int[] keys = new int[1 << 16];
        int count = 0;
        try (InputStream in = new BufferedInputStream(Files.newInputStream(file), 1 << 16)) {
            long key = 0;
            int digits = 0;
            for (int next = in.read(); next >= 0 || digits > 0; next = in.read()) {
                if (next >= '0' && next <= '9') {
                    key = key * DECIMAL + next - '0';
                    digits++;
                    if (key > Integer.MAX_VALUE) {
                        throw new IOException(
                                file + ", request " + (count + 1) + ": the key is above " + Integer.MAX_VALUE);
                    }
                } else if (next == '\n' || next < 0) {
                    if (digits == 0) {
                        throw new IOException(file + ", request " + (count + 1) + ": an empty line");
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
