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

    private AvailableMemory() {}

    /** @throws IllegalArgumentException where {@code bytes} are not there */
    static void require(long bytes) {
        require(bytes, Path.of("/"));
    }

    /** @param root of the file system */
    static void require(long bytes, Path root) {
        AvailableBytes available = of(root);
        if (bytes > available.bytes()) {
            throw new IllegalArgumentException("memory of " + (bytes >> 20) + " MiB; " + available.where() + " has "
                    + (available.bytes() >> 20) + " MiB available, so donate less");
        }
    }

    static long bytes() {
        return of(Path.of("/")).bytes();
    }

    static AvailableBytes of(Path root) {
        return machine(root).least(ControlGroups.least(root));
    }

    /** Of the machine and its most loaded control group the one with less left, as a part of what it has. */
    static AvailableBytes tightest(Path root) {
        AvailableBytes machine = machine(root);
        AvailableBytes group = ControlGroups.least(root);
        boolean less = (double) group.bytes() / group.total() < (double) machine.bytes() / machine.total();
        return less ? group : machine;
    }

    private static AvailableBytes machine(Path root) {
        return new AvailableBytes("this machine", meminfo(root, AVAILABLE), meminfo(root, TOTAL));
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
