package io.farheap.memory;

import io.farheap.verbs.MemoryRegion;
import io.farheap.verbs.ProtectionDomain;
import java.lang.foreign.MemorySegment;

/** Shared memory with its registration. One owner closes it, once no work request refers to it any more. */
public final class RegisteredMemory implements AutoCloseable {

    private final SharedMemory memory;
    private final MemoryRegion region;

    private RegisteredMemory(SharedMemory memory, MemoryRegion region) {
        this.memory = memory;
        this.region = region;
    }

    /**
     * @param name the name shown in /proc/PID/maps
     * @param bytes rounded up to whole pages
     * @param access rights of {@code io.farheap.verbs.Access}, or-ed
     */
    public static RegisteredMemory allocate(ProtectionDomain domain, String name, long bytes, int access) {
        return register(domain, SharedMemory.allocate(name, bytes), access);
    }

    /**
     * @param memory whose ownership passes to the result; closed if it cannot be registered
     * @param access rights of {@code io.farheap.verbs.Access}, or-ed
     */
    public static RegisteredMemory register(ProtectionDomain domain, SharedMemory memory, int access) {
        try {
            return new RegisteredMemory(memory, domain.register(memory.segment(), access));
        } catch (Throwable e) {
            memory.close();
            throw e;
        }
    }

    /** Page-aligned. */
    public MemorySegment segment() {
        return memory.segment();
    }

    public long address() {
        return region.address();
    }

    public long bytes() {
        return region.bytes();
    }

    /** lkey. */
    public int localKey() {
        return region.localKey();
    }

    /** rkey. */
    public int remoteKey() {
        return region.remoteKey();
    }

    /** As {@link SharedMemory#discard}; no device may have a registration that reaches the part. */
    public void discard(long offset, long bytes) {
        memory.discard(offset, bytes);
    }

    /** As {@link SharedMemory#populate}. */
    public void populate(long offset, long bytes) {
        memory.populate(offset, bytes);
    }

    /** Ends the registration; the memory stays mapped. */
    public void deregister() {
        region.close();
    }

    @Override
    public void close() {
        // If the device does not release it, this throws and the memory stays mapped, since the device may still write
        // there.
        region.close();
        memory.close();
    }
}
