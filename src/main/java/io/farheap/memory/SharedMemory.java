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
    private final int descriptor;
    private final long pageBytes;

    private SharedMemory(int fd, long bytes, long pageBytes, boolean prefersHugePages) {
        this.descriptor = fd;
        this.pageBytes = pageBytes;
        long address = Posix.map(fd, bytes, prefersHugePages);
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
                name, bytes, 0, rounded -> AvailableMemory.requireOwn("memory \"" + name + "\"", rounded, root), root);
    }

    /**
     * Memory for other processes. A cache of this machine that is in use is not given up for it.
     *
     * @param name seen in /proc/PID/maps
     * @param bytes rounded up to whole pages
     * @param pieceBytes how much is {@linkplain #discard discarded} at a time, whole pages; 0 if nothing is. If
     *     something is, no reserved huge pages are taken: the kernel would keep them as huge pages, and neither this
     *     machine nor other memory would have any of it
     * @throws IllegalArgumentException where this machine, or a control group of this process, has no such room
     */
    public static SharedMemory allocateDonated(String name, long bytes, long pieceBytes) {
        return allocateDonated(name, bytes, pieceBytes, AvailableMemory.ROOT);
    }

    /** @param root of the file system */
    static SharedMemory allocateDonated(String name, long bytes, long pieceBytes, Path root) {
        String remedy =
                pieceBytes == 0 ? "donate less" : "donate less, or keep no headroom, which is of ordinary pages only";
        return allocate(
                name, bytes, pieceBytes, rounded -> AvailableMemory.require("memory", rounded, remedy, root), root);
    }

    /** @param room throws if there is not enough for so many bytes of ordinary pages */
    private static SharedMemory allocate(String name, long bytes, long pieceBytes, LongConsumer room, Path root) {
        if (bytes <= 0 || bytes > Long.MAX_VALUE - PAGE_BYTES) {
            throw new IllegalArgumentException("an arena of " + bytes + " bytes; it needs at least 1");
        }
        long rounded = (bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
        boolean checked = false;
        if (pieceBytes == 0 && rounded >= HUGE_PAGE_BYTES) {
            MemoryInfo info = MemoryInfo.of(root);
            if (info.isOfHugePages(rounded)) {
                // Pages beyond what is reserved (vm.nr_overcommit_hugepages) are made of what is available.
                if (info.hugeBytes() < rounded) {
                    room.accept(rounded);
                    checked = true;
                }
                try {
                    return allocate(name, rounded, info.hugePageBytes(), true);
                } catch (PosixException e) {
                    // Too few, or more than a limit lets this process have; ordinary ones serve.
                }
            }
        }
        if (!checked) {
            room.accept(rounded);
        }
        // A huge page of which a part is discarded may stay as a whole, if a device has the rest.
        return allocate(name, rounded, PAGE_BYTES, pieceBytes % HUGE_PAGE_BYTES == 0);
    }

    private static SharedMemory allocate(String name, long bytes, long pageBytes, boolean prefersHugePages) {
        int fd = Posix.memfd(name, pageBytes > PAGE_BYTES);
        try {
            Posix.truncateAndSeal(fd, bytes);
            return new SharedMemory(fd, bytes, pageBytes, prefersHugePages);
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

    /** What the memory is made of: {@value #PAGE_BYTES}, or the size of the huge pages that the machine reserves. */
    public long pageBytes() {
        return pageBytes;
    }

    /**
     * Gives a part back to the kernel, for all processes that have it mapped. It reads as zeros afterwards, and takes
     * memory again when it is {@linkplain #populate populated}, or written.
     *
     * @param offset of whole pages of {@link #pageBytes}, and {@code bytes} too
     * @throws IllegalArgumentException where it is not of whole pages, of which nothing would be given back
     * @throws PosixException where the kernel does not take it
     */
    public void discard(long offset, long bytes) {
        Posix.discard(part(offset, bytes));
    }

    /**
     * Takes memory for a part that was discarded. Where there is not enough none is taken, and an access to the part
     * may end the process.
     *
     * @param offset as of {@link #discard}
     * @throws PosixException where there is not enough
     */
    public void populate(long offset, long bytes) {
        MemorySegment part = part(offset, bytes);
        try {
            Posix.populate(descriptor, offset, part);
        } catch (PosixException e) {
            try {
                Posix.discard(part);
            } catch (PosixException kept) {
                e.addSuppressed(kept);
            }
            throw e;
        }
    }

    private MemorySegment part(long offset, long bytes) {
        if (offset % pageBytes != 0 || bytes % pageBytes != 0) {
            throw new IllegalArgumentException(bytes + " bytes at " + offset + " of memory in pages of " + pageBytes
                    + " bytes; give back, or take, whole pages");
        }
        return segment.asSlice(offset, bytes);
    }

    @Override
    public void close() {
        if (arena.scope().isAlive()) {
            arena.close();
        }
    }
}
