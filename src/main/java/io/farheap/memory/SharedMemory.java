package io.farheap.memory;

import io.farheap.posix.Posix;
import io.farheap.posix.PosixException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.function.LongConsumer;

/**
 * Zeroed off-heap memory in a sealed memfd, mapped shared and populated: a device registers it, and a software device
 * of another process can map it. It consists of huge pages if its size is a multiple of theirs and the machine has
 * enough of them reserved for all of it, else of ordinary pages; never of both.
 *
 * <p>Any thread may use the segment. One owner closes it, after which every access to the segment throws.
 */
public final class SharedMemory implements AutoCloseable {

    public static final long PAGE_BYTES = 4096;
    /** The size of x86-64's smallest huge pages, which the kernel's transparent huge pages have too. */
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
     * @param name the name shown in /proc/PID/maps
     * @param bytes rounded up to whole pages
     * @throws IllegalArgumentException if this machine, or a control group of this process, has not enough room
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
     * Allocates memory that this process lends to others. Page cache in use does not count as available for it.
     *
     * @param name the name shown in /proc/PID/maps
     * @param bytes rounded up to whole pages
     * @param pieceBytes how much is {@linkplain #discard discarded} at a time, in whole pages; 0 if nothing is ever
     *     discarded. Otherwise no reserved huge pages are used: the kernel would keep discarded ones reserved as huge
     *     pages, so that neither the machine nor other memory would gain anything
     * @throws IllegalArgumentException if this machine, or a control group of this process, has not enough room
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

    /** @param room throws if there is not enough room for so many bytes of ordinary pages */
    private static SharedMemory allocate(String name, long bytes, long pieceBytes, LongConsumer room, Path root) {
        if (bytes <= 0 || bytes > Long.MAX_VALUE - PAGE_BYTES) {
            throw new IllegalArgumentException("an arena of " + bytes + " bytes; it needs at least 1");
        }
        long rounded = (bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
        boolean checked = false;
        if (pieceBytes == 0 && rounded >= HUGE_PAGE_BYTES) {
            MemoryInfo info = MemoryInfo.of(root);
            if (info.isOfHugePages(rounded)) {
                // Huge pages beyond the reserved ones (vm.nr_overcommit_hugepages) are made from available memory.
                if (info.hugeBytes() < rounded) {
                    room.accept(rounded);
                    checked = true;
                }
                try {
                    return allocate(name, rounded, info.hugePageBytes(), true);
                } catch (PosixException e) {
                    // There are too few huge pages, or a limit forbids them; ordinary pages serve.
                }
            }
        }
        if (!checked) {
            room.accept(rounded);
        }
        // A huge page of which a part is discarded may stay allocated as a whole, if a device uses the rest of it.
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

    /** The size of its pages: {@value #PAGE_BYTES}, or the size of the huge pages that the machine reserves. */
    public long pageBytes() {
        return pageBytes;
    }

    /**
     * Gives a part back to the kernel, for all processes that have it mapped. Afterwards it reads as zeros, and takes
     * memory again when it is {@linkplain #populate populated}, or written.
     *
     * @param offset a multiple of {@link #pageBytes}, as {@code bytes} must be
     * @throws IllegalArgumentException if the part is not of whole pages, since the kernel would give nothing back
     * @throws PosixException if the kernel refuses
     */
    public void discard(long offset, long bytes) {
        Posix.discard(part(offset, bytes));
    }

    /**
     * Takes memory for a part that was discarded. If there is not enough, none is taken, and an access to the part may
     * end the process.
     *
     * @param offset as of {@link #discard}
     * @throws PosixException if there is not enough memory
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
