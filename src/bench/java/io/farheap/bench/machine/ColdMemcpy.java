package io.farheap.bench.machine;

import io.farheap.memory.SharedMemory;
import io.farheap.posix.Posix;
import java.lang.foreign.MemorySegment;

/**
 * The C library's memcpy from pages that another mapping has filled, through a mapping that is populated and has never
 * been read: the speed at which one core copies the memory of another process for the first time. On a virtual machine
 * with page tables of its own each page then costs some microseconds, which a real device does not pay.
 */
public final class ColdMemcpy implements AutoCloseable {

    private final long bytes;
    private final int descriptor;
    private final SharedMemory to;

    /** @param bytes whole pages */
    public ColdMemcpy(long bytes) {
        this.bytes = bytes;
        this.to = SharedMemory.allocate("farheap-memcpy", bytes);
        int opened = -1;
        try {
            opened = Posix.memfd("farheap-memcpy", false);
            Posix.truncateAndSeal(opened, bytes);
            long filled = Posix.map(opened, bytes, true);
            MemorySegment.ofAddress(filled).reinterpret(bytes).fill((byte) 1);
            Posix.unmap(filled, bytes);
        } catch (Throwable e) {
            if (opened >= 0) {
                Posix.close(opened);
            }
            to.close();
            throw e;
        }
        this.descriptor = opened;
    }

    /**
     * Copies all of it so many times, and once if that is 0; each time through another mapping.
     *
     * @return nanoseconds for one copy, without mapping
     */
    public long run(int times) {
        long nanos = 0;
        int runs = Math.max(1, times);
        for (int i = 0; i < runs; i++) {
            long address = Posix.map(descriptor, bytes, true);
            try {
                nanos += Memcpy.copy(
                        to.segment(), MemorySegment.ofAddress(address).reinterpret(bytes));
            } finally {
                Posix.unmap(address, bytes);
            }
        }
        return nanos / runs;
    }

    @Override
    public void close() {
        Posix.close(descriptor);
        to.close();
    }
}
