package io.farheap.memory;

import io.farheap.posix.Posix;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Zeroed off-heap memory of this process alone, in huge pages if the kernel allows it
 * ({@code /sys/kernel/mm/transparent_hugepage/enabled} is {@code madvise} or {@code always}): for large tables with
 * random access, for which 4 KB pages would cost a TLB miss each.
 *
 * <p>Any thread may use the segment. One owner closes it, after which every access to the segment throws.
 */
public final class PrivateMemory implements AutoCloseable {

    private static final long HUGE_PAGE_BYTES = 2L << 20;
    private static final long PAGE_BYTES = 4096;

    private final Arena arena = Arena.ofShared();
    private final MemorySegment segment;

    private PrivateMemory(long bytes, boolean populate) {
        // Huge pages are aligned to their size: memory that is large enough for one begins at such an address.
        long slack = bytes >= HUGE_PAGE_BYTES ? HUGE_PAGE_BYTES : 0;
        long mapped = bytes + slack;
        long address = Posix.mapPrivate(mapped, populate);
        long aligned = slack == 0 ? address : address + slack - 1 & -HUGE_PAGE_BYTES;
        segment = MemorySegment.ofAddress(aligned).reinterpret(bytes, arena, ended -> Posix.unmap(address, mapped));
    }

    /**
     * Allocates memory and populates it.
     *
     * @param bytes rounded up to whole pages
     * @throws IllegalArgumentException if this machine, or a control group of this process, has not enough room
     */
    public static PrivateMemory allocate(long bytes) {
        return allocate(bytes, true);
    }

    /**
     * The same, but a page takes memory from its first access on, which waits for it: for a table that may stay empty.
     */
    public static PrivateMemory allocateSparse(long bytes) {
        return allocate(bytes, false);
    }

    private static PrivateMemory allocate(long bytes, boolean populate) {
        if (bytes <= 0 || bytes > Long.MAX_VALUE - 2 * HUGE_PAGE_BYTES) {
            throw new IllegalArgumentException("memory of " + bytes + " bytes; it needs at least 1");
        }
        AvailableMemory.requireOwn("memory", bytes, AvailableMemory.ROOT);
        return new PrivateMemory((bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES, populate);
    }

    /** The memory, page-aligned. */
    public MemorySegment segment() {
        return segment;
    }

    @Override
    public void close() {
        if (arena.scope().isAlive()) {
            arena.close();
        }
    }
}
