package io.farheap.server.contract;

import io.farheap.memory.AvailableBytes;
import io.farheap.memory.AvailableMemory;

/**
 * How much memory a machine has, and how much of it is left.
 *
 * @param totalBytes of the machine, or of the control group that has less left
 * @param freeBytes that the kernel can still give
 */
public record MachineMemory(long totalBytes, long freeBytes) {

    /** Of this machine now, or of the control group of this process that has the smaller part left. */
    public static MachineMemory now() {
        AvailableBytes available = AvailableMemory.tightest();
        return new MachineMemory(available.total(), available.bytes());
    }
}
