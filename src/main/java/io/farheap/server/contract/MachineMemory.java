package io.farheap.server.contract;

import io.farheap.memory.AvailableBytes;
import io.farheap.memory.AvailableMemory;

/**
 * The memory of a machine, and how much of it is free.
 *
 * @param totalBytes of the machine, or of the control group that has less left
 * @param freeBytes that the kernel can still give
 */
public record MachineMemory(long totalBytes, long freeBytes) {

    /** The memory of this machine now, or of this process's control group if that has a smaller share left. */
    public static MachineMemory now() {
        AvailableBytes available = AvailableMemory.tightest();
        return new MachineMemory(available.total(), available.bytes());
    }
}
