package io.farheap.cache;

import io.farheap.cache.order.RequestBuffer;
import java.lang.foreign.MemorySegment;

/**
 * Off-heap memory that is registered with a cache, by {@link Cache#allocate} or {@link Cache#register}: data moves
 * between it and the far memory with no copy in between. Any session of the cache may use it, several at once on parts
 * of their own.
 */
// The superclass's other methods are for the cache alone.
@SuppressWarnings("exports")
public final class Buffer extends RequestBuffer {

    /** @param memory closing it ends the registration, and unmaps the segment if the cache mapped it */
    Buffer(Owner owner, MemorySegment segment, int localKey, AutoCloseable memory) {
        super(owner, segment, localKey, memory);
    }

    /**
     * The memory itself. If the cache allocated it, it is page-aligned, accessible to all threads, and access after
     * {@link #close} throws.
     */
    @Override
    public MemorySegment segment() {
        return super.segment();
    }

    /** Its size in bytes. */
    @Override
    public long bytes() {
        return super.bytes();
    }

    /**
     * Ends the registration, and unmaps the memory if the cache allocated it.
     *
     * @throws IllegalStateException if a request that uses it has not finished; the buffer then stays open
     */
    @Override
    public void close() {
        super.close();
    }
}
