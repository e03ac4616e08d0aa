package io.farheap.memory;

import java.nio.file.Path;

/**
 * The memory that the kernel can still give to this process: the least of what the machine and each of the process's
 * control groups (a container, a service) has left. Populating more than that would wake the OOM killer, which may pick
 * any process. Ordinary pages only: reserved huge pages ({@link MemoryInfo}) count neither as the machine's memory nor
 * as available, and in no control group's memory.
 */
public final class AvailableMemory {

    static final Path ROOT = Path.of("/");

    /**
     * Memory below this size is not checked: reading what is available takes a tenth of a millisecond, and populating
     * this much takes only some tenths.
     */
    private static final long LEAST_BYTES = 1 << 20;

    private AvailableMemory() {}

    /**
     * Checks that there is enough memory before this process populates ordinary pages.
     *
     * @param what the purpose of the memory, for messages
     * @param remedy such as "allocate less"
     * @param root of the file system
     * @throws IllegalArgumentException if {@code bytes} are not available
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
     * As {@link #require}, for memory that this process populates for itself, unless it is small. Here page cache in
     * use counts as available, since the kernel reclaims it for this: a group with much page cache is near its limit
     * most of the time.
     */
    static void requireOwn(String what, long bytes, Path root) {
        if (bytes >= LEAST_BYTES) {
            AvailableBytes available = machine(root).least(ControlGroups.least(root, true));
            require(what, bytes, "allocate less, or give this process more", available, root);
        }
    }

    /** The available bytes in ordinary pages. */
    public static long bytes() {
        return of(ROOT).bytes();
    }

    static AvailableBytes of(Path root) {
        return machine(root).least(ControlGroups.least(root, false));
    }

    /** Of the machine and its fullest control group the one that has the smaller share of its memory available. */
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
