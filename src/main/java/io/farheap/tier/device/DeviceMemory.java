package io.farheap.tier.device;

import java.lang.foreign.MemorySegment;

/** Memory that a {@link Device} may read and write, for requests of that device's handles alone. */
public interface DeviceMemory extends AutoCloseable {

    /** The memory that was registered. */
    MemorySegment segment();

    /**
     * Ends the registration; the caller may then unmap the memory.
     *
     * @throws IllegalStateException if a request uses the memory
     */
    @Override
    void close();
}
