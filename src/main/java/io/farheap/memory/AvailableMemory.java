package io.farheap.memory;

import java.nio.file.Path;

/**
 * What the kernel can still give to this process: of the machine, and of each control group that it is in (a container,
 * a service). Populating more than that would wake the OOM killer, which picks its victim freely. Ordinary pages only:
 * what is reserved as huge pages ({@link MemoryInfo}) is neither a part of the machine's memory here nor available, and
 * counts in no control group's memory.
 */
public final class AvailableMemory {

    static final Path ROOT = Path.of("/");

    /** Reading what is available takes a tenth of a millisecond, and populating so much some. */
    private static final long LEAST_BYTES = 1 << 20;

    private AvailableMemory() {}

    /**
     * Before this process populates ordinary pages.
     *
     * @param what the memory is for
     * @param remedy such as "allocate less"
     * @param root of the file system
     * @throws IllegalArgumentException where {@code bytes} are not there
     */
    static void require(String what, long bytes, String remedy, Path root) {
        require(what, bytes, remedy, of(root), root);
    }

    private static void require(String what, long bytes, String remedy, AvailableBytes available, Path root) {
        if (bytes > available.bytes()) {
            long huge = MemoryInfo.of(root).hugeBytes();
            String reserved = huge == 0
                    ? ""
                    : "and " + (huge >> 20)
                            + " MiB in reserved huge pages, which are too few or not for this process, ";
            throw new IllegalArgumentException(what + " of " + (bytes >> 20) + " MiB; " + available.where() + " has "
                    + (available.bytes() >> 20) + " MiB available, " + reserved + "so " + remedy);
        }
    }

    /**
     * Before this process populates memory of its own, unless that is little. A cache that is in use is given up for
     * it: a group with much of a page cache is near its limit most of the time.
     */
    static void requireOwn(String what, long bytes, Path root) {
        if (bytes >= LEAST_BYTES) {
            AvailableBytes available = machine(root).least(ControlGroups.least(root, true));
            require(what, bytes, "allocate less, or give this process more", available, root);
        }
    }

    /** In ordinary pages. */
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

    static AvailableBytes tightest(Path root) {
        AvailableBytes machine = machine(root);
        AvailableBytes group = ControlGroups.least(root, false);
        boolean less = (double) group.bytes() / group.total() < (double) machine.bytes() / machine.total();
        return less ? group : machine;
    }

    private static AvailableBytes machine(Path root) {
        MemoryInfo info = MemoryInfo.of(root);
        return new AvailableBytes("this machine", info.availableBytes(), info.totalBytes());
    }
}
