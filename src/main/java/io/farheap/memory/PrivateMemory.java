package io.farheap.memory;

import io.farheap.posix.Posix;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Zeroed off-heap memory of the process alone, populated, in huge pages where the kernel lets it
 * ({@code /sys/kernel/mm/transparent_hugepage/enabled} is {@code madvise} or {@code always}): for large tables that are
 * looked into at random, where each page of 4 KB would be a miss of the TLB.
 *
 * <p>Any thread may use the segment. One owner closes it, after which every access to the segment throws.
 */
public final class PrivateMemory implements AutoCloseable {

    private static final long HUGE_PAGE_BYTES = 2L << 20;
    private static final long PAGE_BYTES = 4096;

    private final Arena arena = Arena.ofShared();
    private final MemorySegment segment;

    private PrivateMemory(long bytes) {
        // A huge page is at a multiple of its size: where there is one, the memory begins there.
        long slack = bytes >= HUGE_PAGE_BYTES ? HUGE_PAGE_BYTES : 0;
        long mapped = bytes + slack;
        long address = Posix.mapPrivate(mapped);
        long aligned = slack == 0 ? address : address + slack - 1 & -HUGE_PAGE_BYTES;
        segment = MemorySegment.ofAddress(aligned).reinterpret(bytes, arena, ended -> Posix.unmap(address, mapped));
    }

    /**
     * @param bytes rounded up to whole pages
     * @throws IllegalArgumentException where this machine, or a control group of this process, has no such room
     */
    public static PrivateMemory allocate(long bytes) {
        if (bytes <= 0 || bytes > Long.MAX_VALUE - 2 * HUGE_PAGE_BYTES) {
            throw new IllegalArgumentException("memory of " + bytes + " bytes; it needs at least 1");
        }
        AvailableMemory.requireOwn("memory", bytes, AvailableMemory.ROOT);
        return new PrivateMemory((bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES);
    }

    /** Page-aligned; byte 0 to the size, exclusive. */
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
