package io.farheap.memory;

import io.farheap.posix.Posix;
import io.farheap.posix.PosixException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.function.LongConsumer;

/**
 * Zeroed off-heap memory in a sealed memfd, mapped shared and populated: a device registers it, and a software device
 * of another process can map it. Of huge pages if its size is a multiple of them and the machine has enough reserved
 * for all of it, else of ordinary ones; never of both.
 *
 * <p>Any thread may use the segment. One owner closes it, after which every access to the segment throws.
 */
public final class SharedMemory implements AutoCloseable {

    public static final long PAGE_BYTES = 4096;
    /** Of the smallest huge pages of x86-64, and of those that the kernel makes by itself. */
    private static final long HUGE_PAGE_BYTES = 2L << 20;

    private final Arena arena = Arena.ofShared();
    private final MemorySegment segment;
    private final boolean hugePages;

    private SharedMemory(int fd, long bytes, boolean hugePages) {
        this.hugePages = hugePages;
        long address = Posix.map(fd, bytes);
        this.segment = MemorySegment.ofAddress(address).reinterpret(bytes, arena, mapped -> {
            Posix.unmap(address, bytes);
            Posix.close(fd);
        });
    }

    /**
     * @param name seen in /proc/PID/maps
     * @param bytes rounded up to whole pages
     * @throws IllegalArgumentException where this machine, or a control group of this process, has no such room
     */
    public static SharedMemory allocate(String name, long bytes) {
        return allocate(name, bytes, AvailableMemory.ROOT);
    }

    /** @param root of the file system */
    static SharedMemory allocate(String name, long bytes, Path root) {
        return allocate(
                name, bytes, rounded -> AvailableMemory.requireOwn("memory \"" + name + "\"", rounded, root), root);
    }

    /**
     * Memory for other processes. A cache of this machine that is in use is not given up for it.
     *
     * @param name seen in /proc/PID/maps
     * @param bytes rounded up to whole pages
     * @throws IllegalArgumentException where this machine, or a control group of this process, has no such room
     */
    public static SharedMemory allocateDonated(String name, long bytes) {
        return allocateDonated(name, bytes, AvailableMemory.ROOT);
    }

    /** @param root of the file system */
    static SharedMemory allocateDonated(String name, long bytes, Path root) {
        return allocate(
                name, bytes, rounded -> AvailableMemory.require("memory", rounded, "donate less", root), root);
    }

    /** @param room throws if there is not enough for so many bytes of ordinary pages */
    private static SharedMemory allocate(String name, long bytes, LongConsumer room, Path root) {
        if (bytes <= 0 || bytes > Long.MAX_VALUE - PAGE_BYTES) {
            throw new IllegalArgumentException("an arena of " + bytes + " bytes; it needs at least 1");
        }
        long rounded = (bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
        boolean checked = false;
        if (rounded >= HUGE_PAGE_BYTES) {
            MemoryInfo info = MemoryInfo.of(root);
            if (info.isOfHugePages(rounded)) {
                // Pages beyond what is reserved (vm.nr_overcommit_hugepages) are made of what is available.
                if (info.hugeBytes() < rounded) {
                    room.accept(rounded);
                    checked = true;
                }
                try {
                    return allocate(name, rounded, true);
                } catch (PosixException e) {
                    // Too few, or more than a limit lets this process have; ordinary ones serve.
                }
            }
        }
        if (!checked) {
            room.accept(rounded);
        }
        return allocate(name, rounded, false);
    }

    private static SharedMemory allocate(String name, long bytes, boolean hugePages) {
        int fd = Posix.memfd(name, hugePages);
        try {
            Posix.truncateAndSeal(fd, bytes);
            return new SharedMemory(fd, bytes, hugePages);
        } catch (Throwable e) {
            Posix.close(fd);
            throw e;
        }
    }

    /** Page-aligned; byte 0 to {@link #bytes} exclusive. */
    public MemorySegment segment() {
        return segment;
    }

    public long bytes() {
        return segment.byteSize();
    }

    public boolean hugePages() {
        return hugePages;
    }

    @Override
    public void close() {
        if (arena.scope().isAlive()) {
            arena.close();
        }
    }
}
