package io.farheap.memory;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The fields of {@code /proc/meminfo} that matter here, in bytes. A kernel that does not report a field counts as one
 * without limit and without huge pages.
 *
 * @param availableBytes available in ordinary pages
 * @param totalBytes total in ordinary pages: reserved huge pages of any size, used or not, are not included
 * @param hugePageBytes the size of the huge pages that a memfd gets
 * @param hugeBytes reserved in huge pages of that size and promised to no process
 */
record MemoryInfo(long availableBytes, long totalBytes, long hugePageBytes, long hugeBytes) {

    private static final long UNKNOWN = -1;

    /** @param root of the file system */
    static MemoryInfo of(Path root) {
        Map<String, Long> fields = fields(root);
        long total = fields.getOrDefault("MemTotal", UNKNOWN);
        long pageBytes = fields.getOrDefault("Hugepagesize", 0L);
        long free = fields.getOrDefault("HugePages_Free", 0L) - fields.getOrDefault("HugePages_Rsvd", 0L);
        return new MemoryInfo(
                fields.getOrDefault("MemAvailable", Long.MAX_VALUE),
                total == UNKNOWN ? Long.MAX_VALUE : Math.max(1, total - fields.getOrDefault("Hugetlb", 0L)),
                pageBytes,
                Math.max(0, free) * pageBytes);
    }

    /** By name: bytes, or a plain number for a field without unit. */
    private static Map<String, Long> fields(Path root) {
        Map<String, Long> fields = new HashMap<>();
        for (String line : lines(root)) {
            String[] words = line.split("\\s+");
            if (words.length >= 2 && words[0].endsWith(":")) {
                try {
                    long number = Long.parseLong(words[1]);
                    String name = words[0].substring(0, words[0].length() - 1);
                    fields.put(name, words.length > 2 && words[2].equals("kB") ? number << 10 : number);
                } catch (NumberFormatException e) {
                    // No field that is needed.
                }
            }
        }
        return fields;
    }

    private static List<String> lines(Path root) {
        try {
            return Files.readAllLines(root.resolve("proc/meminfo"));
        } catch (IOException e) {
            return List.of();
        }
    }

    /** Whether memory of so many bytes is a whole number of huge pages. */
    boolean isOfHugePages(long bytes) {
        return hugePageBytes > 0 && bytes % hugePageBytes == 0;
    }
}
