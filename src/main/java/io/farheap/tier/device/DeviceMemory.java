package io.farheap.tier.device;

import java.lang.foreign.MemorySegment;

/** Memory that a {@link Device} may read and write: of requests of that device's handles alone. */
public interface DeviceMemory extends AutoCloseable {

    MemorySegment segment();

    @Override
    void close();
}
