package io.farheap.server.contract;

import io.farheap.memory.AvailableBytes;
import io.farheap.memory.AvailableMemory;
import io.farheap.memory.MemoryStalls;

/**
 * The memory of a machine, how much of it is free, and whether tasks wait for it.
 *
 * @param totalBytes of the machine, or of the control group that has less left
 * @param freeBytes that the kernel can still give
 * @param stalledPercent of the last ten seconds: the time in which some task of the machine, or of this process's
 *     control group, waited for memory; 0 if the kernel does not say so
 */
public record MachineMemory(long totalBytes, long freeBytes, double stalledPercent) {

    /** Memory for which no task waits. */
    public MachineMemory(long totalBytes, long freeBytes) {
        this(totalBytes, freeBytes, 0);
    }

    /** The memory of this machine now, or of this process's control group if that has a smaller share left. */
    public static MachineMemory now() {
        AvailableBytes available = AvailableMemory.tightest();
        return new MachineMemory(available.total(), available.bytes(), MemoryStalls.percent());
    }
}
