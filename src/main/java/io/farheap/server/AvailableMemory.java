package io.farheap.server;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * What the kernel can still give to this process: of the machine, and of each control group that it is in (a container,
 * a service). Populating more than that would wake the OOM killer, which picks its victim freely.
 */
final class AvailableMemory {

    private static final String MEMINFO = "proc/meminfo";
    private static final String AVAILABLE = "MemAvailable:";
    private static final String TOTAL = "MemTotal:";

    /** Of whom, for people, how much, and of how much. */
    record Available(String where, long bytes, long total) {

        Available least(Available other) {
            return other.bytes < bytes ? other : this;
        }
    }

    private AvailableMemory() {}

    /** @throws IllegalArgumentException where {@code bytes} are not there */
    static void require(long bytes) {
        require(bytes, Path.of("/"));
    }

    /** @param root of the file system */
    static void require(long bytes, Path root) {
        Available available = of(root);
        if (bytes > available.bytes) {
            throw new IllegalArgumentException("memory of " + (bytes >> 20) + " MiB; " + available.where + " has "
                    + (available.bytes >> 20) + " MiB available, so donate less");
        }
    }

    static long bytes() {
        return of(Path.of("/")).bytes;
    }

    static Available of(Path root) {
        return machine(root).least(ControlGroups.least(root));
    }

    /** Of the machine and its most loaded control group the one with less left, as a part of what it has. */
    static Available tightest(Path root) {
        Available machine = machine(root);
        Available group = ControlGroups.least(root);
        boolean less = (double) group.bytes / group.total < (double) machine.bytes / machine.total;
        return less ? group : machine;
    }

    private static Available machine(Path root) {
        return new Available("this machine", meminfo(root, AVAILABLE), meminfo(root, TOTAL));
    }

    private static long meminfo(Path root, String field) {
        try {
            for (String line : Files.readAllLines(root.resolve(MEMINFO))) {
                if (line.startsWith(field)) {
                    return Long.parseLong(line.substring(field.length())
                                    .replace("kB", "")
                                    .trim())
                            << 10;
                }
            }
        } catch (IOException | NumberFormatException e) {
            // An unusual kernel: let the mapping itself decide.
        }
        return Long.MAX_VALUE;
    }
}
