package io.farheap.memory;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * What {@code /proc/meminfo} tells of a machine's memory, in bytes. An unusual kernel that does not tell has no limit,
 * and no huge pages.
 *
 * @param availableBytes in ordinary pages
 * @param totalBytes in ordinary pages: what is reserved as huge pages, of any size, is no part of it, used or not
 * @param hugePageBytes the size of the huge pages that a memfd gets
 * @param hugeBytes what is reserved in huge pages of that size and is promised to no process
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

    /** By name: bytes, or how many of what has no unit. */
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
                    // Nothing that is asked for.
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
