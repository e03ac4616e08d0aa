package io.farheap.memory;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * What the kernel can still give to this process: of the machine, and of each control group that it is in (a container,
 * a service). Populating more than that would wake the OOM killer, which picks its victim freely.
 */
public final class AvailableMemory {

    static final Path ROOT = Path.of("/");

    /** Reading what is available takes a tenth of a millisecond, and populating so much some. */
    private static final long LEAST_BYTES = 1 << 20;

    private static final String MEMINFO = "proc/meminfo";
    private static final String AVAILABLE = "MemAvailable:";
    private static final String TOTAL = "MemTotal:";

    private AvailableMemory() {}

    /**
     * @param what the memory is for
     * @param remedy such as "allocate less"
     * @throws IllegalArgumentException where {@code bytes} are not there
     */
    public static void require(String what, long bytes, String remedy) {
        require(what, bytes, remedy, ROOT);
    }

    /** @param root of the file system */
    static void require(String what, long bytes, String remedy, Path root) {
        require(what, bytes, remedy, of(root));
    }

    private static void require(String what, long bytes, String remedy, AvailableBytes available) {
        if (bytes > available.bytes()) {
            throw new IllegalArgumentException(what + " of " + (bytes >> 20) + " MiB; " + available.where() + " has "
                    + (available.bytes() >> 20) + " MiB available, so " + remedy);
        }
    }

    /**
     * Before this process populates memory of its own, unless that is little. A cache that is in use is given up for
     * it: a group with much of a page cache is near its limit most of the time.
     */
    static void requireOwn(String what, long bytes, Path root) {
        if (bytes >= LEAST_BYTES) {
            AvailableBytes available = machine(root).least(ControlGroups.least(root, true));
            require(what, bytes, "allocate less, or give this process more", available);
        }
    }

    public static long bytes() {
        return of(ROOT).bytes();
    }

    static AvailableBytes of(Path root) {
        return machine(root).least(ControlGroups.least(root, false));
    }

    /** Of the machine and its most loaded control group the one with less left, as a part of what it has. */
    public static AvailableBytes tightest() {
        return tightest(ROOT);
    }

    private static AvailableBytes tightest(Path root) {
        AvailableBytes machine = machine(root);
        AvailableBytes group = ControlGroups.least(root, false);
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
