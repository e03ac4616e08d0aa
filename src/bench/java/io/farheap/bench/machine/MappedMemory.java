package io.farheap.bench.machine;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * The memory of mapped files: how much of a file this process has in memory, which nothing bounds outside of a memory
 * cgroup. Any thread.
 */
public final class MappedMemory {

    private static final Path MAPPINGS = Path.of("/proc/self/smaps");
    private static final String RESIDENT = "Rss:";
    private static final long KILO = 1024;

    private MappedMemory() {}

    /**
     * Returns the bytes of a file that this process has mapped and in memory.
     *
     * @return 0 if it is not mapped
     */
    public static long residentBytes(Path file) {
        try {
            return residentBytes(Files.readAllLines(MAPPINGS, StandardCharsets.UTF_8), file.toRealPath());
        } catch (IOException e) {
            throw new UncheckedIOException("cannot read which part of " + file + " is in memory", e);
        }
    }

    /** @param smaps as proc(5) describes them: a line that names a mapping, and then lines of its counts in KiB */
    static long residentBytes(List<String> smaps, Path file) {
        long bytes = 0;
        boolean ofFile = false;
        for (String line : smaps) {
            if (line.startsWith(RESIDENT)) {
                String kilos =
                        line.substring(RESIDENT.length()).replace("kB", "").strip();
                bytes += ofFile ? KILO * Long.parseLong(kilos) : 0;
            } else if (mapping(line)) {
                ofFile = line.endsWith(" " + file);
            }
        }
        return bytes;
    }

    /** Whether a line begins with addresses, such as {@code 7f00a000-7f00b000}, and not with the name of a count. */
    private static boolean mapping(String line) {
        int dash = line.indexOf('-');
        int blank = line.indexOf(' ');
        return dash > 0 && dash < blank && !line.substring(0, blank).endsWith(":");
    }
}
