package io.farheap.server;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** What the kernel can still give away. Populating more than that would wake the OOM killer, which picks its victim freely. */
final class AvailableMemory {

    private static final Path MEMINFO = Path.of("/proc/meminfo");
    private static final String FIELD = "MemAvailable:";

    private AvailableMemory() {
    }

    /** @throws IllegalArgumentException where {@code bytes} are not there */
    static void require(long bytes) {
        long available = bytes();
        if (bytes > available) {
            throw new IllegalArgumentException("memory of " + (bytes >> 20) + " MiB; this machine has " + (available >> 20)
                + " MiB available, so donate less");
        }
    }

    private static long bytes() {
        try {
            for (String line : Files.readAllLines(MEMINFO)) {
                if (line.startsWith(FIELD)) {
                    return Long.parseLong(line.substring(FIELD.length()).replace("kB", "").trim()) << 10;
                }
            }
        } catch (IOException | NumberFormatException e) {
            // An unusual kernel: let the mapping itself decide.
        }
        return Long.MAX_VALUE;
    }
}
