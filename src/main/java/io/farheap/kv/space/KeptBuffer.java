package io.farheap.kv.space;

import io.farheap.memory.SharedMemory;
import io.farheap.remote.RegisteredBuffer;
import io.farheap.remote.RemoteMemory;

/**
 * A registered buffer whose memory stays until its owner closes it, even if the map is closed before. So code that
 * accesses it by address, without a check, still finds the memory, and the next call to a queue reports that the map is
 * closed.
 */
public final class KeptBuffer implements AutoCloseable {

    private final SharedMemory memory;
    private final RegisteredBuffer buffer;

    /** @param bytes rounded up to whole pages */
    public KeptBuffer(RemoteMemory remote, long bytes) {
        memory = SharedMemory.allocate("farheap-map", bytes);
        try {
            buffer = remote.register(memory.segment());
        } catch (Throwable e) {
            memory.close();
            throw e;
        }
    }

    public RegisteredBuffer buffer() {
        return buffer;
    }

    /** If an operation that uses it has not ended, this throws, and the buffer stays open. */
    @Override
    public void close() {
        buffer.close();
        memory.close();
    }
}
