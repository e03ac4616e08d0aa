package io.farheap.memory;

import io.farheap.posix.Posix;
import io.farheap.posix.PosixException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;

/**
 * Zeroed off-heap memory in a sealed memfd, mapped shared and populated: a device registers it, and a software device
 * of another process can map it. Huge pages where the size is a multiple of them and the machine has enough reserved.
 *
 * <p>Any thread may use the segment. One owner closes it, after which every access to the segment throws.
 */
public final class SharedMemory implements AutoCloseable {

    public static final long PAGE_BYTES = 4096;
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
        if (bytes <= 0 || bytes > Long.MAX_VALUE - PAGE_BYTES) {
            throw new IllegalArgumentException("an arena of " + bytes + " bytes; it needs at least 1");
        }
        long rounded = (bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
        if (rounded % HUGE_PAGE_BYTES == 0) {
            try {
                return allocate(name, rounded, true);
            } catch (PosixException e) {
                // Reserved huge pages are rare; ordinary ones serve.
            }
        }
        // What is reserved as huge pages counts as used.
        AvailableMemory.requireOwn("memory \"" + name + "\"", rounded, root);
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
